// Colours of words, by a lexer: what follows or precedes a word tells what it is.
//
//   %x              variable            f32[     type          add(     function
//   dimensions=     property            ENTRY    keyword       // ...   comment
// Lines are independent but for comments that span several. Results are numbers relative to the
// token before: lines down, characters right, length, type. A range begins as if no comment were
// open at its first line, so that its cost does not depend on where in the text it lies.
#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "ir/opcode.h"
#include "tools/hlo-lsp/service/features.h"

namespace hlokit {
namespace {

enum Type : int {
  kKeyword,
  kFunction,
  kVariable,
  kTypeName,
  kNumber,
  kString,
  kComment,
  kProperty,
  kMacro
};
constexpr std::array<const char*, 9> kTypes = {"keyword", "function", "variable", "type", "number",
                                               "string",  "comment",  "property", "macro"};

struct Token {
  int64_t line = 0;
  size_t begin = 0, end = 0;  // bytes of the line
  Type type = kVariable;
};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// The type of the word [at, end).
Type TypeOf(absl::string_view line, size_t at, size_t end) {
  const absl::string_view word = line.substr(at, end - at);
  const char next = end < line.size() ? line[end] : '\n';
  const bool percent = at > 0 && line[at - 1] == '%';
  if (percent) return kVariable;
  if (word == "ENTRY" || word == "ROOT" || word == "HloModule" || word == "FileNames" ||
      word == "FunctionNames" || word == "FileLocations" || word == "StackFrames")
    return kKeyword;
  if (word == "true" || word == "false" || word == "inf" || word == "nan") return kNumber;
  if (next == '[' || word == "token" || word == "opaque") return kTypeName;
  if (next == '(' && OpcodeFromText(word)) return kFunction;
  if (next == '(' &&
      word.find("-start") + word.find("-done") + word.find("-update") != 3 * word.npos)
    return kFunction;
  return next == '=' ? kProperty : kVariable;
}

// Tokens of a line; `in_comment` says whether it begins within /* */, and is left so for the next.
void ReadLine(absl::string_view line, int64_t number, bool& in_comment, std::vector<Token>& out) {
  size_t at = 0;
  const auto add = [&](size_t end, Type type) {
    out.push_back({number, at, end, type});
    at = end;
  };
  while (at < line.size()) {
    const char c = line[at];
    if (in_comment || line.substr(at, 2) == "/*") {
      const size_t end = line.find("*/", in_comment ? at : at + 2);
      in_comment = end == line.npos;
      add(in_comment ? line.size() : end + 2, kComment);
    } else if (line.substr(at, 2) == "//") {
      add(line.size(), kComment);
    } else if (c == '"') {
      size_t end = at + 1;
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      add(std::min(end + 1, line.size()), kString);
    } else if (IsDigit(c) || (c == '-' && at + 1 < line.size() && IsDigit(line[at + 1]))) {
      size_t end = at + 1;
      while (end < line.size() &&
             (absl::ascii_isalnum(static_cast<unsigned char>(line[end])) || line[end] == '.' ||
              (line[end] == '-' && (line[end - 1] == 'e' || line[end - 1] == 'E'))))
        ++end;
      add(end, kNumber);
    } else if (absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_') {
      size_t end = at;
      while (end < line.size() && IsNameByte(line[end])) ++end;
      add(end, TypeOf(line, at, end));
    } else {
      ++at;
    }
  }
}

}  // namespace

Json TokenLegend() { return {{"tokenTypes", kTypes}, {"tokenModifiers", Json::array()}}; }

// Five numbers a token: lines and units from the last one, length, type, modifiers.
Json SemanticTokens(Document& document, int64_t first, int64_t last) {
  const TextBuffer& buffer = document.buffer();
  first = std::clamp<int64_t>(first, 0, static_cast<int64_t>(buffer.line_count()));
  last =
      std::min({last, static_cast<int64_t>(buffer.line_count()) - 1, first + kMaxTokenLines - 1});
  std::vector<int64_t> data;
  std::vector<Token> tokens;
  bool in_comment = false;
  int64_t last_line = 0, last_unit = 0;
  for (int64_t line = first; line <= last; ++line) {
    tokens.clear();
    const absl::string_view text = buffer.Line(line);
    ReadLine(text, line, in_comment, tokens);
    const uint32_t start = buffer.LineStart(line);
    const bool ascii = std::all_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    for (const Token& token : tokens) {
      const auto unit = [&](size_t at) {
        return ascii ? static_cast<int64_t>(at)
                     : buffer.PositionOf(start + static_cast<uint32_t>(at)).character;
      };
      const int64_t begin = unit(token.begin), end = unit(token.end);
      data.insert(data.end(), {line - last_line, line == last_line ? begin - last_unit : begin,
                               end - begin, static_cast<int64_t>(token.type), 0});
      last_line = line;
      last_unit = begin;
    }
  }
  return {{"data", std::move(data)}};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
