// Cuts text where a reader would, roughly.
#include "fuzz/tokens.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace hlokit {
namespace {

bool IsWordPart(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

size_t TokenEnd(absl::string_view text, size_t at) {
  const char c = text[at];
  size_t end = at + 1;
  if (IsWordPart(c) || c == '%') {
    while (end < text.size() && IsWordPart(text[end])) ++end;
  } else if (c == '"') {
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, text.size());
  } else if (c == ' ') {
    while (end < text.size() && text[end] == ' ') ++end;
  }
  return end;
}

}  // namespace

Tokens SplitTokens(absl::string_view text) {
  Tokens tokens;
  for (size_t at = 0; at < text.size();) {
    const size_t end = TokenEnd(text, at);
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

std::string JoinTokens(const Tokens& tokens) { return absl::StrJoin(tokens, ""); }

std::pair<size_t, size_t> LineAround(const Tokens& tokens, size_t at) {
  size_t first = at, last = at;
  while (first > 0 && tokens[first - 1] != "\n") --first;
  while (last < tokens.size() && tokens[last] != "\n") ++last;
  return {first, std::min(last + 1, tokens.size())};
}

std::vector<std::string> SortedLines(absl::string_view text) {
  std::vector<std::string> lines = absl::StrSplit(
      absl::StrReplaceAll(text, {{"-0,", "0,"}, {"-0}", "0}"}, {"-0)", "0)"}, {"-0 ", "0 "}}),
      '\n');
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
