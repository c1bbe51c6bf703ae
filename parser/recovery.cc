// What to do after an error: where to continue, and what the user may have meant.
//
// One mistake should give one message. After an error the parser skips to the next line that looks
// like an instruction (`name =`), a computation (`name ... {` in the first column) or a closing
// brace. Names that the skipped text seems to define become "broken": their uses are accepted
// silently.
//   a = f32[4] exponental(x)     error: unknown opcode, did you mean 'exponential'
//   b = f32[4] add(a, x)         no error, although a does not exist
// Searches are bounded (kMaxSuggestionTries names, 1 MiB of text), so that a file of errors stays
// linear.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "parser/module_parser_internal.h"
#include "parser/shapes_internal.h"
#include "support/display.h"
#include "support/limits.h"
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

// `[ROOT] name = ...`, perhaps after a comment.
bool LooksLikeInstruction(absl::string_view line) {
  if (absl::StartsWith(line, "/*")) {
    const size_t close = line.find("*/");
    if (close == absl::string_view::npos) return false;
    line = absl::StripLeadingAsciiWhitespace(line.substr(close + 2));
  }
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

struct OtherName {
  absl::string_view theirs, ours;
};
// What numpy, C, LLVM and MLIR call types and operations.
constexpr OtherName kOtherNames[] = {{"float", "f32"},
                                     {"float16", "f16"},
                                     {"float32", "f32"},
                                     {"float64", "f64"},
                                     {"half", "f16"},
                                     {"double", "f64"},
                                     {"bfloat16", "bf16"},
                                     {"int", "s32"},
                                     {"int8", "s8"},
                                     {"int16", "s16"},
                                     {"int32", "s32"},
                                     {"int64", "s64"},
                                     {"i1", "pred"},
                                     {"i8", "s8"},
                                     {"i16", "s16"},
                                     {"i32", "s32"},
                                     {"i64", "s64"},
                                     {"uint8", "u8"},
                                     {"uint16", "u16"},
                                     {"uint32", "u32"},
                                     {"uint64", "u64"},
                                     {"ui8", "u8"},
                                     {"ui32", "u32"},
                                     {"ui64", "u64"},
                                     {"bool", "pred"},
                                     {"complex64", "c64"},
                                     {"complex128", "c128"},
                                     {"sub", "subtract"},
                                     {"mul", "multiply"},
                                     {"div", "divide"},
                                     {"neg", "negate"},
                                     {"mod", "remainder"},
                                     {"rem", "remainder"},
                                     {"max", "maximum"},
                                     {"min", "minimum"},
                                     {"pow", "power"},
                                     {"exp", "exponential"},
                                     {"cast", "convert"},
                                     {"where", "select"},
                                     {"concat", "concatenate"},
                                     {"matmul", "dot"},
                                     {"conv", "convolution"},
                                     {"arg", "parameter"},
                                     {"get_tuple_element", "get-tuple-element"},
                                     {"gte", "get-tuple-element"},
                                     {"if", "conditional"},
                                     {"case", "conditional"},
                                     {"not_equal", "compare"},
                                     {"sum", "reduce"},
                                     {"sin", "sine"},
                                     {"cos", "cosine"}};

// The name in HLO of what others call `word`; empty where nobody does.
absl::string_view NameElsewhere(absl::string_view word) {
  for (const OtherName& name : kOtherNames)
    if (name.theirs == word) return name.ours;
  return {};
}

}  // namespace

bool ModuleParser::StartsInstruction() {
  if (TypeFromWord(reader_.PeekWord()) != ElementType::kInvalid || reader_.Peek() == '(')
    return true;
  return LooksLikeInstruction(LineFrom(reader_.Here(), reader_.end()));
}

bool ModuleParser::SkipToInstruction(Scope& scope, const char* broken) {
  const char* from = reader_.raw_position();
  // One that was found wrong when all of it had been read: the next line is not part of it.
  const char* line_end = from > broken ? reader_.LineEndBefore(from) : nullptr;
  if (line_end != nullptr) from = line_end;
  PoisonNames(scope, from, NextLine(from, reader_.end()));
  const char* at = NextLine(from, reader_.end());
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

// What is passed over may define names: their uses are no errors of their own.
void ModuleParser::PoisonNames(Scope& scope, const char* from, const char* to) {
  constexpr size_t kMax = size_t{1} << 16;  // of a line that has gone wrong
  absl::string_view text(from, std::min<size_t>(to - from, kMax));
  for (size_t equals = text.find(" = "); equals != absl::string_view::npos;
       equals = text.find(" = ", equals + 1)) {
    size_t start = equals;
    while (start > 0 && Reader::IsClass(text[start - 1], kWordPart)) --start;
    const absl::string_view name = text.substr(start, equals - start);
    if (name.empty() || !Reader::IsClass(name[0], kWordStart)) continue;
    bool added = false;
    NameTable::Entry& entry = scope.names->Add(name, added);
    if (added) entry.broken = true;
  }
}

void ModuleParser::SkipToComputation() {
  const char* at = reader_.raw_position();
  if (at != reader_.begin() && at[-1] != '\n') at = NextLine(at, reader_.end());
  while (at < reader_.end() && !LooksLikeComputation(LineFrom(at, reader_.end())))
    at = NextLine(at, reader_.end());
  reader_.MoveTo(at);
}

// The first `NAME =` (or `NAME (` and `NAME {` of a computation) after `at`, within `reach`.
absl::string_view ModuleParser::FindDefinition(absl::string_view name, const char* at,
                                               absl::string_view followers) {
  constexpr size_t kReach = size_t{1} << 20;  // bytes that are searched
  const absl::string_view rest(at, std::min<size_t>(reader_.end() - at, kReach));
  if (name.size() > kMaxSuggestionLength) return {};
  for (size_t found = rest.find(name); found != absl::string_view::npos;
       found = rest.find(name, found + name.size())) {
    const size_t after = found + name.size();
    if (found > 0 && Reader::IsClass(rest[found - 1], kWordPart)) continue;
    if (after + 1 < rest.size() && rest[after] == ' ' &&
        absl::StrContains(followers, rest.substr(after + 1, 1)))
      return rest.substr(found, name.size());
  }
  return {};
}

bool ModuleParser::Undefined(Scope& scope, absl::string_view name, const char* at) {
  NearestName nearest(name);
  scope.names->ForEach([&](const NameTable::Entry& entry) {
    if (entry.instruction != nullptr) nearest.Offer(entry.text());
  });
  // A definition further down the computation?
  absl::string_view later = FindDefinition(name, at, "=");
  if (later.data() != nullptr) {
    const absl::string_view between(at, later.data() - at);
    if (between.find("\n}") != absl::string_view::npos) later = {};
  }
  const bool attribute = reader_.Peek() == '=';
  auto handle = attribute
                    ? diagnostics().Error(reader_.PlaceAt(at), "",
                                          "expected ')' before the "
                                          "attribute '",
                                          name, "'")
                    : diagnostics().Error(reader_.PlaceAt(at), "", "'", Quotable(name),
                                          "' is not defined", later.empty() ? nearest.Hint() : "");
  if (!later.empty() && !attribute)
    handle.Note(reader_.PlaceOf(later), "defined only here, after its use");
  // One message a name: its other uses are the same mistake.
  bool added = false;
  if (!attribute && later.empty()) {
    NameTable::Entry& entry = scope.names->Add(name, added);
    if (added) entry.broken = true;
  }
  return false;
}

bool ModuleParser::UndefinedComputation(absl::string_view name, const char* at) {
  NearestName nearest(name);
  for (const auto& [known, computation] : computations_) nearest.Offer(known);
  const absl::string_view later = FindDefinition(name, at, "({");
  auto handle =
      diagnostics().Error(reader_.PlaceAt(at), "", "the computation '", name,
                          "' is not defined before this", later.empty() ? nearest.Hint() : "");
  if (!later.empty())
    handle.Note(reader_.PlaceOf(later), "defined here; computations stand before their callers");
  return false;
}

bool ModuleParser::UnknownOpcode(absl::string_view word, const char* at) {
  NearestName nearest(word);
  const absl::string_view meant = NameElsewhere(word);
  reader_.Word();
  const char after = *reader_.raw_position();
  const bool type = after == '[';
  if (type) {
    for (int i = 1; i < kElementTypeCount; ++i)
      nearest.Offer(Info(static_cast<ElementType>(i)).text);
  } else {
    for (int i = 0; i < kOpcodeCount; ++i) nearest.Offer(Text(static_cast<Opcode>(i)));
  }
  if (!type && TypeFromWord(word) != ElementType::kInvalid)
    return reader_.Error(at, "expected an opcode, found the element type '", word, "'");
  const bool fits = !meant.empty() && type == (TypeFromWord(meant) != ElementType::kInvalid);
  return reader_.Error(at, type ? "unknown element type '" : "unknown opcode '", word, "'",
                       fits ? absl::StrCat(" (HLO calls it ", meant, ")") : nearest.Hint());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
