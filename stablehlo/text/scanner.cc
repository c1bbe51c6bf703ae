// Characters of MLIR text.
//
// There is no token list: MLIR's tokens depend on where they stand (`2x3xf32` is one type, `-` may
// begin a number or an arrow, `#loc` and `# loc` differ), so the reader asks for what may come next
// and the scanner looks at the characters there. Try... takes it or leaves the place as it was,
// Expect... is an error otherwise, Rewind goes back, Looking only looks. All return views of the
// text. Methods that end in Here skip no blanks first.
// The first error stays; later ones are ignored, so callers need only pass `false` on.
#include "stablehlo/text/scanner_internal.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace hlokit {
namespace {

bool IsWordChar(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.'; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void MlirScanner::Skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool MlirScanner::TryHere(absl::string_view punctuation) {
  if (text_.substr(at_, punctuation.size()) != punctuation) return false;
  at_ += punctuation.size();
  return true;
}

bool MlirScanner::Try(absl::string_view punctuation) { return Skip(), TryHere(punctuation); }

bool MlirScanner::Expect(absl::string_view punctuation) {
  return Try(punctuation) || Fail("expected '", punctuation, "'");
}

absl::string_view MlirScanner::PeekWord() {
  Skip();
  size_t end = at_;
  if (end < text_.size() && !absl::ascii_isdigit(text_[end]) && text_[end] != '.')
    while (end < text_.size() && IsWordChar(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

absl::string_view MlirScanner::Word() {
  const absl::string_view word = PeekWord();
  at_ += word.size();
  return word;
}

bool MlirScanner::TryWord(absl::string_view word) {
  if (PeekWord() != word) return false;
  at_ += word.size();
  return true;
}

bool MlirScanner::ExpectWord(absl::string_view word) {
  return TryWord(word) || Fail("expected '", word, "'");
}

absl::string_view MlirScanner::Suffix() {
  const size_t start = at_;
  while (at_ < text_.size() && (IsWordChar(text_[at_]) || text_[at_] == '-')) ++at_;
  return text_.substr(start, at_ - start);
}

bool MlirScanner::DigitsHere(int64_t& value) {
  const size_t start = at_;
  while (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) ++at_;
  return (at_ > start && absl::SimpleAtoi(text_.substr(start, at_ - start), &value)) ||
         Fail("expected a number below 2^63");
}

absl::string_view MlirScanner::Number() {
  Skip();
  size_t end = at_;
  auto digits = [&] {
    while (end < text_.size() && absl::ascii_isdigit(text_[end])) ++end;
  };
  if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) ++end;
  if (text_.substr(end, 2) == "0x" && end + 2 < text_.size() && HexDigit(text_[end + 2]) >= 0) {
    end += 2;
    while (end < text_.size() && HexDigit(text_[end]) >= 0) ++end;
  } else {
    const size_t first = end;
    digits();
    if (end == first) return {};
    if (end < text_.size() && text_[end] == '.') ++end, digits();
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      const size_t exponent = end++;
      if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) ++end;
      const size_t power = end;
      digits();
      if (end == power) end = exponent;
    }
  }
  const absl::string_view number = text_.substr(at_, end - at_);
  at_ = end;
  return number;
}

bool MlirScanner::Int(int64_t& value) {
  Skip();
  const SourcePlace place = {offset(), 1};
  absl::string_view number = Number();
  bool negative = absl::ConsumePrefix(&number, "-");
  const bool hex = absl::ConsumePrefix(&number, "0x");
  uint64_t magnitude = 0;
  const char* end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, magnitude, hex ? 16 : 10);
  if (number.empty() || error != std::errc() || rest != end)
    return FailAt(place, "expected an integer of 64 bits");
  value = static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
  return true;
}

absl::string_view MlirScanner::RawString() {
  if (!Expect("\"")) return {};
  const size_t start = at_;
  // Strings of megabytes have no escapes: weights as hexadecimal digits.
  const size_t quote = text_.find('"', at_);
  if (quote != text_.npos && text_.substr(at_, quote - at_).find('\\') == text_.npos) at_ = quote;
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) {
    at_ = text_.size();
    FailAt({static_cast<uint32_t>(start - 1), 1}, "the string does not end");
    return {};
  }
  return text_.substr(start, at_++ - start);
}

bool MlirScanner::String(std::string& value) {
  const absl::string_view raw = RawString();
  if (raw.data() == nullptr) return false;
  value.clear();
  value.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      value += raw[i];
      continue;
    }
    const char c = raw[++i];
    if (i + 1 < raw.size() && HexDigit(c) >= 0 && HexDigit(raw[i + 1]) >= 0) {
      value += static_cast<char>(HexDigit(c) * 16 + HexDigit(raw[++i]));
    } else {
      value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return true;
}

bool MlirScanner::SkipBalanced() {
  const SourcePlace open = {offset() == 0 ? 0 : offset() - 1, 1};
  std::string closers(1, '\0');
  switch (text_[open.offset]) {
    case '<':
      closers[0] = '>';
      break;
    case '(':
      closers[0] = ')';
      break;
    case '[':
      closers[0] = ']';
      break;
    default:
      closers[0] = '}';
  }
  while (!closers.empty()) {
    if (at_ >= text_.size()) return FailAt(open, "the bracket is not closed");
    const char c = text_[at_];
    if (c == '"') {
      if (RawString().data() == nullptr) return false;
      continue;
    }
    ++at_;
    if (c == '-' && PeekHere() == '>') {
      ++at_;
    } else if (c == '<') {
      closers += '>';
    } else if (c == '(') {
      closers += ')';
    } else if (c == '[') {
      closers += ']';
    } else if (c == '{') {
      closers += '}';
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (c != closers.back())
        return FailAt({offset() - 1, 1}, "expected '", closers.substr(closers.size() - 1), "'");
      closers.pop_back();
    }
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
