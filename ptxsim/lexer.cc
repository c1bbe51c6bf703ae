// The lexer of PTX: ISA, "Syntax" (comments, identifiers, constants).
#include "ptxsim/lexer.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/ascii.h"

namespace hlokit::ptx {
namespace {

bool StartsWord(char c) { return absl::ascii_isalpha(c) || c == '_' || c == '$' || c == '%'; }
bool ContinuesWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$'; }

// The value of a hexadecimal digit; -1 for other characters.
int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

}  // namespace

void Lexer::SkipSpace() {
  for (;;) {
    while (at_ < text_.size() && (absl::ascii_isspace(text_[at_]) || text_[at_] == '\0')) ++at_;
    if (Peek() == '/' && Peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (Peek() == '/' && Peek(1) == '*') {
      const size_t begin = at_;
      const size_t end = text_.find("*/", at_ + 2);
      if (end == absl::string_view::npos)
        out_.Error({static_cast<uint32_t>(begin), 2}, "", "a comment that does not end");
      at_ = end == absl::string_view::npos ? text_.size() : end + 2;
    } else {
      return;
    }
  }
}

Token Lexer::Make(Token::Kind kind, size_t begin) const {
  Token token;
  token.kind = kind;
  token.text = text_.substr(begin, at_ - begin);
  token.place = {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_ - begin)};
  return token;
}

Token Lexer::Next() {
  SkipSpace();
  const size_t begin = at_;
  if (at_ >= text_.size()) return Make(Token::kEnd, begin);
  const char c = text_[at_];
  if (absl::ascii_isdigit(c)) return Number();
  if (c == '"') return Quoted();
  if (c == '.' && ContinuesWord(Peek(1))) return Dotted();
  if (StartsWord(c)) {
    do ++at_;
    while (ContinuesWord(Peek()));
    return Make(Token::kWord, begin);
  }
  ++at_;
  if (std::strchr(";,:{}[]()<>|@!+-~*/%&^?=.", c) != nullptr)
    return Make(Token::kPunctuation, begin);
  const Token bad = Make(Token::kBad, begin);
  out_.Error(bad.place, "", "a character that PTX does not use");
  return bad;
}

// `.word`, a directive or a modifier.
Token Lexer::Dotted() {
  const size_t begin = at_++;
  for (;;) {
    while (ContinuesWord(Peek())) ++at_;
    if (Peek() != ':' || Peek(1) != ':' || !ContinuesWord(Peek(2))) break;
    at_ += 2;
  }
  Token token = Make(Token::kDotted, begin);
  token.text.remove_prefix(1);
  return token;
}

Token Lexer::Quoted() {
  const size_t begin = at_++;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
    at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
  if (Peek() != '"') {
    const Token bad = Make(Token::kBad, begin);
    out_.Error(bad.place, "", "a string that does not end on its line");
    return bad;
  }
  ++at_;
  Token token = Make(Token::kString, begin);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

// 0f3F800000 and 0d3FF0000000000000: the bits of an f32 or f64.
Token Lexer::HexFloat(size_t digits, bool is_single) {
  const size_t begin = at_;
  at_ += 2;
  uint64_t bits = 0;
  size_t seen = 0;
  for (; DigitOf(Peek()) < 16; ++at_, ++seen) bits = bits << 4 | DigitOf(Peek());
  Token token = Make(Token::kFloat, begin);
  token.bits = bits;
  token.is_single = is_single;
  if (seen != digits) {
    out_.Error(token.place, "", "expected ", digits, " hexadecimal digits, found ", seen);
    token.kind = Token::kBad;
  }
  return token;
}

Token Lexer::Decimal(size_t begin) {
  while (absl::ascii_isdigit(Peek()) || Peek() == '.') ++at_;
  if (absl::ascii_tolower(Peek()) == 'e') {
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    while (absl::ascii_isdigit(Peek())) ++at_;
  }
  Token token = Make(Token::kFloat, begin);
  const double value = std::strtod(std::string(token.text).c_str(), nullptr);
  std::memcpy(&token.bits, &value, sizeof(value));
  return token;
}

// Decimal, 0x, 0b and octal integers, and floats.
Token Lexer::Number() {
  const size_t begin = at_;
  const char second = absl::ascii_tolower(Peek(1));
  if (Peek() == '0' && second == 'f') return HexFloat(8, /*is_single=*/true);
  if (Peek() == '0' && second == 'd') return HexFloat(16, /*is_single=*/false);
  uint64_t base = 10;
  if (Peek() == '0' && second == 'x') base = 16;
  if (Peek() == '0' && second == 'b') base = 2;
  if (base != 10) at_ += 2;
  if (base == 10) {
    size_t ahead = 0;
    while (absl::ascii_isdigit(Peek(ahead))) ++ahead;
    const char next = Peek(ahead);
    if ((next == '.' && absl::ascii_isdigit(Peek(ahead + 1))) || absl::ascii_tolower(next) == 'e' ||
        (next == '.' && !ContinuesWord(Peek(ahead + 1))))
      return Decimal(begin);
    if (Peek() == '0' && ahead > 1) base = 8;
  }
  bool overflow = false;
  uint64_t value = 0;
  const size_t first = at_;
  for (; DigitOf(Peek()) < static_cast<int>(base); ++at_) {
    overflow |= __builtin_mul_overflow(value, base, &value);
    overflow |= __builtin_add_overflow(value, static_cast<uint64_t>(DigitOf(Peek())), &value);
  }
  const bool empty = at_ == first;
  bool is_unsigned = value >> 63;
  if (Peek() == 'U' || Peek() == 'u') {
    is_unsigned = true;
    ++at_;
  }
  const bool continues = ContinuesWord(Peek());
  while (ContinuesWord(Peek())) ++at_;
  Token token = Make(Token::kInteger, begin);
  token.bits = value;
  token.is_unsigned = is_unsigned;
  if (empty || continues || overflow) {
    out_.Error(token.place, "", overflow ? "a number above 64 bits" : "a malformed number");
    token.kind = Token::kBad;
  }
  return token;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
