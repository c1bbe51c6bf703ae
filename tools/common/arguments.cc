// XLA's tools take -flag_name, ours --flag-name: names are normalized before parsing, values stay
// as they are.
#include "tools/common/arguments.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hlokit {
namespace {

std::string Normalize(absl::string_view argument) {
  const size_t dashes = argument.find_first_not_of('-');
  if (dashes == absl::string_view::npos || dashes == 0 || dashes > 2) return std::string(argument);
  if (dashes == 1 &&
      (argument.size() < 3 || !std::isalpha(static_cast<unsigned char>(argument[1])) ||
       !(std::isalpha(static_cast<unsigned char>(argument[2])) || argument[2] == '_')))
    return std::string(argument);  // -o, -o=x, -1, -
  const size_t end = std::min(argument.find('='), argument.size());
  std::string name = absl::StrCat("--", argument.substr(dashes, end - dashes));
  std::replace(name.begin(), name.end(), '_', '-');
  return absl::StrCat(name, argument.substr(end));
}

}  // namespace

std::vector<std::string> NormalizeArguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  bool flags = true;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    flags = flags && argument != "--";
    arguments.push_back(flags ? Normalize(argument) : std::string(argument));
    if (flags && argument.size() > 3 && argument[0] == '-' && argument[1] != '-' &&
        argument[2] == '=') {  // -o=FILE, which CLI11 reads as -o of the file "=FILE"
      arguments.back() = std::string(argument.substr(0, 2));
      arguments.emplace_back(argument.substr(3));
    }
    if (!flags || !absl::StartsWith(argument, "-") || argument.back() != '=') continue;
    arguments.back().pop_back();  // CLI11 would take the next argument for the value of `--flag=`
    arguments.emplace_back();
  }
  return arguments;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
