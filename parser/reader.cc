// The lexer. It has no token stream: the parser asks for what it expects (a word, an integer, a
// string, a bracket), and Reader moves along the text. Tokens are views into the text, so reading
// allocates nothing; a class table of 256 entries (kWordPart, kDigit, ...) classifies bytes.
//
// The text ends with a NUL byte, which belongs to no class, so that scans need no bounds checks.
// Blanks are skipped before a token, never after: error positions then point at the token, and an
// unexpected end of line is known as such. Cost: one pass; runs of blanks eight bytes at a time,
// strings by memchr.
#include "parser/reader_internal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "support/display.h"
#include "support/log_prefix.h"

namespace hlokit {

Reader::Reader(absl::string_view text, Diagnostics& diagnostics)
    : begin_(text.data()), end_(text.data() + text.size()), at_(begin_), diagnostics_(diagnostics) {
  if (absl::StartsWith(text, "\xEF\xBB\xBF")) at_ += 3;
}

void Reader::SkipBlanks() {
  constexpr uint64_t kEightBlanks = 0x2020202020202020u;
  while (IsClass(*at_, kSkip)) {
    if (*at_ != '/') {
      // Blanks by the eight, where they are so many.
      for (uint64_t word; end_ - at_ >= 8; at_ += 8)
        if (std::memcpy(&word, at_, 8), word != kEightBlanks) break;
      if (!IsClass(*at_, kSkip) || *at_ == '/') continue;
      const bool line_end = *at_++ == '\n';
      if (line_end && skip_log_prefixes_) at_ = AfterLogPrefix(at_);
      continue;
    }
    const absl::string_view rest(at_, end_ - at_);
    if (absl::StartsWith(rest, "//")) {
      at_ += std::min(rest.find_first_of("\r\n"), rest.size());
    } else if (absl::StartsWith(rest, "/*")) {
      const size_t close = rest.find("*/", 2);
      if (close == absl::string_view::npos) return;  // Found() words it
      at_ += close + 2;
    } else {
      return;
    }
  }
}

const char* Reader::AfterLogPrefix(const char* at) const {
  return at + LogPrefixLength({at, static_cast<size_t>(end_ - at)});
}

void Reader::SkipLogPrefixes() {
  skip_log_prefixes_ = true;
  at_ = AfterLogPrefix(at_);
}

bool Reader::TryEat(const char* two) {
  if (Peek() != two[0] || at_[1] != two[1]) return false;
  at_ += 2;
  return true;
}

bool Reader::TryEatWord(absl::string_view word) {
  if (PeekWord() != word) return false;
  at_ += word.size();
  return true;
}

bool Reader::AttributeName(absl::string_view& name, absl::string_view what) {
  const char* start = Here();
  name = Word();
  if (name.empty()) return ExpectedHere(what);
  if (*at_ == '=') return ++at_, true;
  if (Peek() == '=' && LineEndBefore(start) != nullptr) {  // an instruction on the next line
    at_ = start;
    return ExpectedHere(what);
  }
  return Peek() == '=' ? Error(at_, "'=' must follow the name without a blank")
                       : ExpectedHere(absl::StrCat("'=' after '", name, "'"));
}

// Up to 18 digits cannot overflow and are read here; longer ones by from_chars.
bool Reader::Int(int64_t& value) {
  const char* start = Here();
  const char* digits = start + (*start == '-');
  if (!IsClass(*digits, kDigit)) return ExpectedValue("an integer");
  int64_t magnitude = 0;
  const char* stop = digits;
  while (IsClass(*stop, kDigit) && stop - digits < 18) magnitude = magnitude * 10 + (*stop++ - '0');
  value = digits == start ? magnitude : -magnitude;
  if (IsClass(*stop, kDigit)) {
    const auto result = std::from_chars(start, LongestFrom(start), value);
    if (result.ec != std::errc()) return Error(start, "the number does not fit in 64 bits");
    stop = result.ptr;
  }
  at_ = stop;
  return true;
}

bool Reader::Double(double& value) {
  const char* start = Here();
  if (*start == '.') return Expected("a number (with a digit before the point)");
  const bool negative = *start == '-';
  at_ += negative;
  if (IsClass(*at_, kWordStart)) {
    const absl::string_view word = PeekWord();
    if (word != "inf" && word != "nan") return ExpectedValue("a number");
    at_ += word.size();
    value = word == "inf" ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
    if (negative) value = -value;
    return true;
  }
  const auto result = std::from_chars(start, LongestFrom(start), value);
  if (result.ptr - start == kMaxWordBytes) return TooLong();
  if (result.ec == std::errc::invalid_argument) {
    at_ = start;
    return ExpectedValue("a number");
  }
  at_ = result.ptr;
  if (result.ec != std::errc::result_out_of_range) return true;
  // from_chars leaves value alone on overflow and on underflow; the latter is no error.
  value = std::strtod(std::string(start, result.ptr).c_str(), nullptr);
  return std::abs(value) <= 1 || Error(start, "the number is out of the range of f64");
}

// XLA reads a number without point or exponent as an integer, which has no -0.
bool Reader::AttributeNumber(double& value) {
  const char* start = Here();
  if (!Double(value)) return false;
  const bool negative = *start == '-';
  if (value == 0 && std::all_of(start + negative, at_, [](char c) { return IsClass(c, kDigit); }))
    value = 0;
  return true;
}

bool Reader::Bool(bool& value) {
  const absl::string_view word = PeekWord();
  if (word != "true" && word != "false") return ExpectedValue("true or false");
  value = word == "true";
  at_ += word.size();
  return true;
}

const char* Reader::QuoteEnd(const char* quote) const {
  const char* at = quote + 1;
  while (at < end_) {
    const auto* close = static_cast<const char*>(std::memchr(at, *quote, end_ - at));
    if (close == nullptr) return nullptr;
    // An escape before it may hide the quote; the search goes on after the escape.
    const auto* escape = static_cast<const char*>(std::memchr(at, '\\', close - at));
    if (escape == nullptr) return close + 1;
    at = escape + 2;
  }
  return nullptr;
}

bool Reader::String(absl::string_view& value, std::string& unescaped) {
  const char quote = Peek();
  if (quote != '"' && quote != '\'') return ExpectedValue("a string");
  const char* stop = QuoteEnd(at_);
  if (stop == nullptr) return Error(at_, "the string has no closing quote");
  value = absl::string_view(at_ + 1, stop - at_ - 2);
  if (std::memchr(value.data(), '\\', value.size()) != nullptr) {
    std::string why;
    if (!absl::CUnescape(value, &unescaped, &why))
      return Error(at_, "bad escape in the string: ", why);
    value = unescaped;
  }
  at_ = stop;
  return true;
}

bool Reader::String(std::string& value) {
  absl::string_view text;
  std::string unescaped;
  if (!String(text, unescaped)) return false;
  value.assign(text.data(), text.size());
  return true;
}

// Brackets inside strings do not count. Linear; the text is not copied.
bool Reader::Balanced(absl::string_view& text) {
  const char* start = Here();
  const char open = *start;
  if (open != '{' && open != '[' && open != '(') return ExpectedValue("'{'");
  const char close = open == '{' ? '}' : open == '[' ? ']' : ')';
  int64_t depth = 0;
  for (const char* p = start; p < end_; ++p) {
    if (*p == '"') {
      p = QuoteEnd(p);
      if (p == nullptr) return Error(start, "a string in the bracketed text has no closing quote");
      --p;
    } else if (*p == open) {
      ++depth;
    } else if (*p == close && --depth == 0) {
      at_ = p + 1;
      text = {start, static_cast<size_t>(at_ - start)};
      return true;
    }
  }
  return Error(start, "the bracket is never closed");
}

absl::string_view Reader::PeekBraced() {
  if (Peek() != '{') return {};
  for (const char* at = at_ + 1; *at != '\0'; ++at) {
    if (*at == '}') return {at_, static_cast<size_t>(at + 1 - at_)};
    if (*at != '"') continue;
    at = QuoteEnd(at);
    if (at == nullptr) return {};
    --at;
  }
  return {};
}

bool Reader::AnyValue(absl::string_view& text) {
  const char* start = Here();
  absl::string_view part;
  while (at_ < end_) {
    const char c = *at_;
    if (c == ',' || c == '\n' || c == '\r' || c == '}' || c == ']' || c == ')') break;
    if (c == '{' || c == '[' || c == '(') {
      if (!Balanced(part)) return false;
    } else if (c == '"') {
      const char* stop = QuoteEnd(at_);
      if (stop == nullptr) return Error(at_, "the string has no closing quote");
      at_ = stop;
    } else {
      ++at_;
    }
  }
  text = {start, static_cast<size_t>(at_ - start)};
  return !text.empty() || ExpectedValue("a value");
}

SourcePlace Reader::PlaceAt(const char* at) const {
  const char* stop = at;
  if (*stop == '%' || *stop == '-') ++stop;
  const char* const longest = LongestFrom(stop);
  while (IsClass(*stop, kWordPart) && stop != longest) ++stop;
  if (stop == at && at < end_) stop += DecodeUtf8({at, static_cast<size_t>(end_ - at)}).size;
  return {static_cast<uint32_t>(at - begin_), static_cast<uint32_t>(stop - at)};
}

std::string Reader::Found() {
  Peek();
  if (at_ == end_) return "the end of the text";
  if (*at_ == '\0') return "a NUL byte";
  if (at_[0] == '/' && at_[1] == '*') return "a comment that is never closed";
  const SourcePlace place = PlaceAt(at_);
  return absl::StrCat("'", Quotable({at_, std::min<uint32_t>(place.length, 60)}), "'");
}

bool Reader::Expected(absl::string_view what) {
  const std::string found = Found();
  return Error(at_, "expected ", what, ", found ", found);
}

const char* Reader::LineEndBefore(const char* at) const {
  const auto blank = [](char c) { return c != '/' && IsClass(c, kSkip); };
  const char* before = at;
  bool later_line = false;
  for (; before > begin_ && blank(before[-1]); --before) later_line |= before[-1] == '\n';
  return later_line && before > begin_ ? before : nullptr;
}

// At the end of a line the error points there and not at the next line's first token, which usually
// is right.
bool Reader::ExpectedHere(absl::string_view what) {
  const char* line_end = LineEndBefore();
  if (line_end == nullptr) return Expected(what);
  at_ = line_end;  // what stands on the next line is read for itself
  return Error(line_end, "expected ", what, ", found the end of the line");
}

bool Reader::ExpectedValue(absl::string_view what) {
  const bool closes = Peek() == '}' || AtEnd();
  return closes ? ExpectedHere(what) : Expected(what);
}

bool Reader::ExpectedChar(char c, absl::string_view where) {
  return ExpectedHere(absl::StrCat("'", absl::string_view(&c, 1), "' ", where));
}

bool Reader::Fill(int64_t bytes) {
  filled_bytes_ += std::min(bytes, kMaxFilledBytes + 1);
  return filled_bytes_ <= kMaxFilledBytes ||
         Error(at_, "constants that one number fills take more than ", kMaxFilledBytes >> 20,
               " MiB");
}

bool Reader::TooLong() {
  return Error(Here(), "a name or number has less than ", kMaxWordBytes, " bytes");
}

bool Reader::TooDeep() { return Error(Here(), "nested more than ", kMaxNesting, " levels deep"); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
