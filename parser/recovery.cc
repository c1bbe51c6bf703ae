// What to do after an error: where to read on, and what the user may have meant.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "parser/module_parser_internal.h"
#include "parser/shapes_internal.h"
#include "support/text.h"

namespace hlokit {
namespace {

absl::string_view LineFrom(const char* at, const char* end) {
  const absl::string_view rest(at, end - at);
  return rest.substr(0, std::min(rest.find('\n'), rest.size()));
}

const char* NextLine(const char* at, const char* end) {
  const absl::string_view line = LineFrom(at, end);
  const char* stop = line.data() + line.size();
  return stop < end ? stop + 1 : end;
}

void EatName(absl::string_view& text) {
  absl::ConsumePrefix(&text, "%");
  size_t n = 0;
  while (n < text.size() && Reader::IsClass(text[n], kWordPart)) ++n;
  text.remove_prefix(n);
}

// `[ROOT] name = ...`
bool LooksLikeInstruction(absl::string_view line) {
  absl::ConsumePrefix(&line, "ROOT ");
  const size_t before = line.size();
  EatName(line);
  const bool named = line.size() != before;
  line = absl::StripLeadingAsciiWhitespace(line);
  return named && absl::StartsWith(line, "=");
}

// `[ENTRY] name ... {` from the first column on.
bool LooksLikeComputation(absl::string_view line) {
  if (line.empty() || !(Reader::IsClass(line[0], kWordStart) || line[0] == '%')) return false;
  return absl::EndsWith(absl::StripTrailingAsciiWhitespace(line), "{") &&
         !LooksLikeInstruction(line);
}

}  // namespace

bool ModuleParser::StartsInstruction() {
  if (TypeFromWord(reader_.PeekWord()) != ElementType::kInvalid || reader_.Peek() == '(')
    return true;
  return LooksLikeInstruction(LineFrom(reader_.Here(), reader_.end()));
}

bool ModuleParser::SkipToInstruction() {
  const char* at = NextLine(reader_.raw_position(), reader_.end());
  while (at < reader_.end()) {
    const absl::string_view line = LineFrom(at, reader_.end());
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    if (absl::StartsWith(text, "}") || LooksLikeInstruction(text)) {
      reader_.MoveTo(text.data());
      return true;
    }
    if (LooksLikeComputation(line)) break;
    at = NextLine(at, reader_.end());
  }
  reader_.MoveTo(at);
  return false;
}

void ModuleParser::SkipToComputation() {
  const char* at = reader_.raw_position();
  if (at != reader_.begin() && at[-1] != '\n') at = NextLine(at, reader_.end());
  while (at < reader_.end() && !LooksLikeComputation(LineFrom(at, reader_.end())))
    at = NextLine(at, reader_.end());
  reader_.MoveTo(at);
}

bool ModuleParser::Undefined(Scope& scope, absl::string_view name, const char* at) {
  std::vector<absl::string_view> names;
  scope.names->ForEach([&](absl::string_view known) {
    if (known != name) names.push_back(known);
  });
  std::sort(names.begin(), names.end());
  auto handle = diagnostics().Error(reader_.PlaceAt(at), "", "'", name, "' is not defined",
                                    DidYouMean(name, names));
  // A definition further down the computation?
  const absl::string_view rest(at, reader_.end() - at);
  const absl::string_view body = rest.substr(0, std::min(rest.find("\n}"), rest.size()));
  const size_t later = body.find(absl::StrCat(name, " ="));
  const bool whole =
      later != absl::string_view::npos && later > 0 && !Reader::IsClass(body[later - 1], kWordPart);
  if (whole)
    handle.Note(reader_.PlaceOf(body.substr(later, name.size())),
                "defined only here, after its use");
  return false;
}

bool ModuleParser::UndefinedComputation(absl::string_view name, const char* at) {
  std::vector<absl::string_view> names;
  for (const auto& [known, computation] : computations_) names.push_back(known);
  std::sort(names.begin(), names.end());
  return reader_.Error(at, "the computation '", name, "' is not defined before this",
                       DidYouMean(name, names));
}

bool ModuleParser::UnknownOpcode(absl::string_view word, const char* at) {
  std::vector<absl::string_view> names;
  reader_.Word();
  const bool type = reader_.Peek() == '[';
  if (type) {
    for (int i = 1; i < kElementTypeCount; ++i)
      names.push_back(Info(static_cast<ElementType>(i)).text);
  } else {
    for (int i = 0; i < kOpcodeCount; ++i) names.push_back(Text(static_cast<Opcode>(i)));
  }
  return reader_.Error(at, type ? "unknown element type '" : "unknown opcode '", word, "'",
                       DidYouMean(word, names));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
