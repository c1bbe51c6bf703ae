// A scan that knows braces, strings and comments; the rest is words and what stands beside them.
//
// Not a parser: it must work on text with errors, and be quick on 50 MB. A computation is a line
// that can be a head (`ENTRY %name (`, `%name {`) up to the brace that closes it; a definition is
// `name =` at the start of a line of a body; any other word of name bytes is a use of an
// instruction, unless it is an attribute, a type (`f32[`) or an opcode (`add(`) or stands in a
// string. Behind `to_apply=`, `calls={` and their like it is a computation. Cost: references read
// one computation for an instruction, the whole text for a computation.
#include "tools/hlo-lsp/service/names.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace hlokit {
namespace {

// Attributes whose values are computations.
constexpr std::array<absl::string_view, 14> kCalling = {"to_apply",
                                                        "calls",
                                                        "body",
                                                        "condition",
                                                        "branch_computations",
                                                        "true_computation",
                                                        "false_computation",
                                                        "select",
                                                        "scatter",
                                                        "called_computations",
                                                        "called_computation",
                                                        "comparator",
                                                        "to",
                                                        "async_computation"};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

size_t LineBegin(absl::string_view text, size_t at) {
  const size_t newline = at == 0 ? text.npos : text.rfind('\n', at - 1);
  return newline == text.npos ? 0 : newline + 1;
}

size_t LineEnd(absl::string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// After the string, comment or character at `at`.
size_t Skip(absl::string_view text, size_t at) {
  if (text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
  }
  if (text[at] == '/' && at + 1 < text.size() && text[at + 1] == '*') {
    const size_t end = text.find("*/", at + 2);
    return end == text.npos ? text.size() : end + 2;
  }
  if (text[at] == '/' && at + 1 < text.size() && text[at + 1] == '/') return LineEnd(text, at);
  return at + 1;
}

// Whether `at` lies in a string or a comment of its line.
bool IsQuoted(absl::string_view text, size_t at) {
  for (size_t k = LineBegin(text, at); k <= at;) {
    const size_t next = Skip(text, k);
    if (next > k + 1 && at < next) return true;
    k = next;
  }
  return false;
}

// After the brace that closes the one before `at`.
size_t CloseBrace(absl::string_view text, size_t at) {
  for (int depth = 1; at < text.size();) {
    // Most bytes are none of these.
    at = text.find_first_of("{}\"/", at);
    if (at == text.npos) return text.size();
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
    at = Skip(text, at);
  }
  return text.size();
}

// The name on the line that begins at `begin`, where it can be a computation's head.
std::optional<ComputationSpan> ReadHead(absl::string_view text, size_t begin) {
  ComputationSpan span;
  size_t at = begin;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  if (absl::StartsWith(text.substr(at), "ENTRY") && at + 5 < text.size() &&
      !IsNameByte(text[at + 5])) {
    span.is_entry = true;
    at += 5;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  }
  if (at < text.size() && text[at] == '%') ++at;
  size_t end = at;
  while (end < text.size() && IsNameByte(text[end])) ++end;
  if (end == at || absl::ascii_isdigit(text[at])) return std::nullopt;
  span.begin = static_cast<uint32_t>(begin);
  span.name_span = {static_cast<uint32_t>(at), static_cast<uint32_t>(end)};
  span.name = std::string(text.substr(at, end - at));
  return span;
}

// What stands before `at`, blanks and `%` left out.
size_t Before(absl::string_view text, size_t at) {
  while (at > 0 && (IsBlank(text[at - 1]) || text[at - 1] == '%')) --at;
  return at;
}

// The attribute whose value, or list of values, the word at `at` stands in; empty for none.
absl::string_view AttributeAt(absl::string_view text, size_t at) {
  size_t before = Before(text, at);
  while (before > 0 && text[before - 1] == ',') {  // {a, b}
    size_t word = Before(text, before - 1);
    while (word > 0 && IsNameByte(text[word - 1])) --word;
    before = Before(text, word);
  }
  if (before > 0 && text[before - 1] == '{') before = Before(text, before - 1);
  if (before == 0 || text[before - 1] != '=') return "";
  size_t key = before - 1;
  while (key > 0 && IsNameByte(text[key - 1])) --key;
  return text.substr(key, before - 1 - key);
}

bool IsCalling(absl::string_view attribute) {
  return std::find(kCalling.begin(), kCalling.end(), attribute) != kCalling.end();
}

// Whether the word [at, end) can be an instruction's name there: no attribute, no opcode, no type.
bool CanBeInstruction(absl::string_view text, size_t at, size_t end) {
  const bool percent = at > 0 && text[at - 1] == '%';
  const char next = end < text.size() ? text[end] : '\n';
  if (next == '[' || (next == '(' && !percent)) return false;
  if (next == '=' && !percent) {
    const size_t before = Before(text, at);
    if (before > 0 && (text[before - 1] == ',' || text[before - 1] == '{')) return false;
  }
  return !IsCalling(AttributeAt(text, at));
}

template <typename Visitor>
void ForEachWord(absl::string_view text, size_t begin, size_t end, absl::string_view word,
                 const Visitor& visit) {
  if (word.empty()) return;
  for (size_t at = text.find(word, begin); at != text.npos && at + word.size() <= end;
       at = text.find(word, at + 1)) {
    const size_t after = at + word.size();
    if (at > 0 && IsNameByte(text[at - 1])) continue;
    if (after < text.size() && IsNameByte(text[after])) continue;
    visit(at, after);
  }
}

TextSpan SpanOf(size_t begin, size_t end) {
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

}  // namespace

bool IsNameByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
         c == ':';
}

// A brace at depth 0 opens a computation unless it is a value's (`={`) or a layout's (`]{`).
std::vector<ComputationSpan> FindComputations(absl::string_view text) {
  std::vector<ComputationSpan> spans;
  size_t after_last = 0;  // heads of several lines do not reach back beyond
  for (size_t at = 0; (at = text.find_first_of("{\"/", at)) != text.npos;) {
    if (text[at] != '{') {
      at = Skip(text, at);
      continue;
    }
    const size_t body = at + 1;
    const char before = at > 0 ? text[at - 1] : '\n';
    if (before == '=' || before == ']' || before == '{' || before == ',') {
      at = CloseBrace(text, body);
      continue;
    }
    size_t line = LineBegin(text, at);
    // `) -> f32[] {` goes on from a line before.
    while (line > after_last && (IsBlank(text[line]) || text[line] == ')' || text[line] == '{'))
      line = LineBegin(text, line - 1);
    std::optional<ComputationSpan> span = ReadHead(text, line);
    at = CloseBrace(text, body);
    if (!span || span->name == "HloModule" || span->name_span.end > body) continue;
    span->body = static_cast<uint32_t>(body);
    span->end = static_cast<uint32_t>(at);
    after_last = at;
    spans.push_back(*std::move(span));
  }
  return spans;
}

const ComputationSpan* ComputationAt(const std::vector<ComputationSpan>& spans, uint32_t offset) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), offset,
                       [](uint32_t at, const ComputationSpan& span) { return at < span.begin; });
  if (after == spans.begin()) return nullptr;
  const ComputationSpan& span = *(after - 1);
  return offset < span.end ? &span : nullptr;
}

std::optional<NameAt> FindName(absl::string_view text, uint32_t offset,
                               const std::vector<ComputationSpan>& spans) {
  if (offset > text.size()) return std::nullopt;
  size_t begin = offset, end = offset;
  if (begin < text.size() && text[begin] == '%') begin = end = offset + 1;
  while (begin > 0 && IsNameByte(text[begin - 1])) --begin;
  while (end < text.size() && IsNameByte(text[end])) ++end;
  while (end > begin && (text[end - 1] == ':' || text[end - 1] == '-')) --end;
  if (begin == end || absl::ascii_isdigit(text[begin]) || IsQuoted(text, begin))
    return std::nullopt;
  NameAt found;
  found.span = SpanOf(begin, end);
  found.name = std::string(text.substr(begin, end - begin));
  const ComputationSpan* const in = ComputationAt(spans, static_cast<uint32_t>(begin));
  if (IsCalling(AttributeAt(text, begin)) || (in != nullptr && in->name_span == found.span)) {
    found.kind = NameKind::kComputation;
  } else if (in != nullptr && CanBeInstruction(text, begin, end) &&
             FindDefinition(text, *in, found.name)) {
    found.kind = NameKind::kInstruction;
  }
  return found;
}

std::optional<DefinitionLine> ReadDefinition(absl::string_view line, uint32_t offset) {
  size_t at = 0;
  const auto blanks = [&] {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  };
  blanks();
  DefinitionLine found;
  if (absl::StartsWith(line.substr(at), "ROOT ") || absl::StartsWith(line.substr(at), "ROOT\t")) {
    found.is_root = true;
    at += 5;
    blanks();
  }
  if (at < line.size() && line[at] == '%') ++at;
  size_t end = at;
  while (end < line.size() && IsNameByte(line[end])) ++end;
  if (end == at || absl::ascii_isdigit(line[at])) return std::nullopt;
  found.name = SpanOf(offset + at, offset + end);
  at = end;
  blanks();
  if (at >= line.size() || line[at] != '=') return std::nullopt;
  ++at;
  // The opcode is the first word before a parenthesis, beyond the shape (whose own parenthesis, of
  // a tuple, has no word before it).
  for (int depth = 0; at < line.size();) {
    const char c = line[at];
    if (c == '"') break;
    if (c == '/' && Skip(line, at) > at + 1) {
      at = Skip(line, at);
      continue;
    }
    if (c == '(' && depth == 0) {
      size_t word = at;
      while (word > 0 && IsNameByte(line[word - 1])) --word;
      if (word < at && !absl::ascii_isdigit(line[word])) {
        found.opcode = SpanOf(offset + word, offset + at);
        break;
      }
    }
    depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
    ++at;
  }
  return found;
}

std::optional<TextSpan> FindDefinition(absl::string_view text, const ComputationSpan& in,
                                       absl::string_view name) {
  std::optional<TextSpan> found;
  ForEachWord(text, in.body, in.end, name, [&](size_t at, size_t after) {
    if (found) return;
    size_t next = after;
    while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;
    if (next >= text.size() || text[next] != '=') return;
    const size_t line = LineBegin(text, at);
    const auto definition =
        ReadDefinition(text.substr(line, LineEnd(text, at) - line), static_cast<uint32_t>(line));
    if (definition && definition->name == SpanOf(at, after)) found = definition->name;
  });
  return found;
}

std::vector<TextSpan> InstructionPlaces(absl::string_view text, const ComputationSpan& in,
                                        absl::string_view name) {
  std::vector<TextSpan> places;
  ForEachWord(text, in.body, in.end, name, [&](size_t at, size_t after) {
    if (CanBeInstruction(text, at, after) && !IsQuoted(text, at))
      places.push_back(SpanOf(at, after));
  });
  return places;
}

std::vector<TextSpan> ComputationPlaces(absl::string_view text,
                                        const std::vector<ComputationSpan>& spans,
                                        absl::string_view name) {
  std::vector<TextSpan> places;
  ForEachWord(text, 0, text.size(), name, [&](size_t at, size_t after) {
    const ComputationSpan* const in = ComputationAt(spans, static_cast<uint32_t>(at));
    const bool head = in != nullptr && in->name_span == SpanOf(at, after);
    if (head || (IsCalling(AttributeAt(text, at)) && !IsQuoted(text, at)))
      places.push_back(SpanOf(at, after));
  });
  return places;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
