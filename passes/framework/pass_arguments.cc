// Options of passes as text.
#include "passes/framework/pass_arguments.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

std::string Dashed(absl::string_view name) { return absl::StrReplaceAll(name, {{"_", "-"}}); }

}  // namespace

absl::StatusOr<PassArguments> PassArguments::Parse(absl::string_view text) {
  PassArguments arguments;
  for (absl::string_view piece :
       absl::StrSplit(text, absl::ByAnyChar(", \t\n"), absl::SkipEmpty())) {
    const size_t equals = piece.find('=');
    Given given;
    given.name = Dashed(piece.substr(0, equals));
    given.has_value = equals != absl::string_view::npos;
    if (given.has_value) given.value = std::string(piece.substr(equals + 1));
    if (given.name.empty()) return InvalidArgument("option without a name in '{", text, "}'");
    for (const Given& other : arguments.given_)
      if (other.name == given.name)
        return InvalidArgument("option '", given.name, "' is given twice in '{", text, "}'");
    arguments.given_.push_back(std::move(given));
  }
  return arguments;
}

PassArguments::Given* PassArguments::Ask(absl::string_view name, absl::string_view takes,
                                         absl::string_view help) {
  known_.push_back({std::string(name), std::string(takes), std::string(help)});
  for (Given& given : given_) {
    if (given.name != name) continue;
    given.asked = true;
    return &given;
  }
  return nullptr;
}

bool PassArguments::Flag(absl::string_view name, absl::string_view help) {
  const Given* given = Ask(name, "", help);
  if (given == nullptr) return false;
  bool value = true;
  if (given->has_value && !absl::SimpleAtob(given->value, &value))
    error_ = absl::StrCat("option '", name, "' takes true or false, not '", given->value, "'");
  return value;
}

int64_t PassArguments::Int(absl::string_view name, int64_t otherwise, absl::string_view help) {
  const Given* given = Ask(name, absl::StrCat("=", otherwise), help);
  if (given == nullptr) return otherwise;
  int64_t value = 0;
  if (!absl::SimpleAtoi(given->value, &value))
    error_ = absl::StrCat("option '", name, "' takes an integer, not '", given->value, "'");
  return value;
}

std::string PassArguments::String(absl::string_view name, absl::string_view otherwise,
                                  absl::string_view help) {
  const Given* given = Ask(name, absl::StrCat("=", otherwise), help);
  if (given == nullptr) return std::string(otherwise);
  if (!given->has_value) error_ = absl::StrCat("option '", name, "' needs a value");
  return given->value;
}

std::vector<std::string> PassArguments::List(absl::string_view name,
                                             absl::Span<const absl::string_view> allowed,
                                             absl::string_view help) {
  const Given* given = Ask(name, "=A;B", help);
  if (given == nullptr) return {};
  std::vector<std::string> values = absl::StrSplit(given->value, ';', absl::SkipEmpty());
  for (const std::string& value : values)
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      error_ = absl::StrCat("option '", name, "' does not know '", value, "'",
                            DidYouMean(value, allowed));
  return values;
}

absl::Status PassArguments::Check(absl::string_view pass) const {
  if (!error_.empty()) return InvalidArgument(pass, ": ", error_);
  for (const Given& given : given_) {
    if (given.asked) continue;
    if (known_.empty()) return InvalidArgument(pass, " takes no options, got '", given.name, "'");
    std::vector<absl::string_view> names;
    for (const Known& known : known_) names.push_back(known.name);
    return InvalidArgument(pass, " has no option '", given.name, "'", DidYouMean(given.name, names),
                           "; it takes ", absl::StrJoin(names, ", "));
  }
  return absl::OkStatus();
}

std::vector<std::string> PassArguments::Help() const {
  std::vector<std::string> lines;
  for (const Known& known : known_)
    lines.push_back(absl::StrCat(known.name, known.takes, ": ", known.help));
  return lines;
}

std::string PassArguments::Text() const {
  return absl::StrJoin(given_, " ", [](std::string* out, const Given& given) {
    absl::StrAppend(out, given.name, given.has_value ? "=" : "", given.value);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
