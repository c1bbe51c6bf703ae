// Tokens of a PTX text.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "support/diagnostics.h"

namespace hlokit::ptx {

struct Token {
  enum Kind : uint8_t {
    kEnd,
    kWord,         // foo, %r1, $L__BB0_1, _
    kDotted,       // .global, .shared::cta, .16x256b: text without the first dot
    kInteger,      // bits; is_unsigned where it has a U or is above the signed range
    kFloat,        // bits of an f64; 0f... carries is_single and the bits of an f32
    kString,       // text without its quotes
    kPunctuation,  // one character, in text
    kBad,          // a character or number that PTX has not; an error was reported
  };

  Kind kind = kEnd;
  bool is_unsigned = false;
  bool is_single = false;
  SourcePlace place;
  absl::string_view text;  // a view of the file
  uint64_t bits = 0;

  bool Is(char c) const { return kind == kPunctuation && text[0] == c; }
  bool IsWord(absl::string_view word) const { return kind == kWord && text == word; }
  bool IsDotted(absl::string_view word) const { return kind == kDotted && text == word; }
};

// Reads one token after the other; comments and white space are passed over.
class Lexer {
 public:
  Lexer(absl::string_view text, Diagnostics& out) : text_(text), out_(out) {}

  Token Next();
  // Where the next token is searched for.
  uint32_t offset() const { return static_cast<uint32_t>(at_); }
  void set_offset(uint32_t offset) { at_ = offset; }

 private:
  void SkipSpace();
  Token Make(Token::Kind kind, size_t begin) const;
  Token Number();
  Token HexFloat(size_t digits, bool is_single);
  Token Decimal(size_t begin);
  Token Quoted();
  Token Dotted();
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  absl::string_view text_;
  Diagnostics& out_;
  size_t at_ = 0;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
