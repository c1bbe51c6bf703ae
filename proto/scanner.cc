// Reads the attribute values that the IR keeps as text.
#include "proto/scanner_internal.h"

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace hlokit {
namespace {

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

// Length of the quoted text at the start of `text`, quotes included; 0 where it does not end.
size_t QuotedLength(absl::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      return i + 1;
    }
  }
  return 0;
}

}  // namespace

void Scanner::SkipBlanks() { text_ = absl::StripLeadingAsciiWhitespace(text_); }

char Scanner::Peek() {
  SkipBlanks();
  return text_.empty() ? '\0' : text_.front();
}

bool Scanner::AtEnd() { return Peek() == '\0'; }

bool Scanner::Eat(absl::string_view token) {
  SkipBlanks();
  if (!absl::StartsWith(text_, token)) return false;
  text_.remove_prefix(token.size());
  return true;
}

bool Scanner::Word(absl::string_view& word) {
  SkipBlanks();
  size_t length = 0;
  while (length < text_.size() && IsWordCharacter(text_[length])) ++length;
  word = text_.substr(0, length);
  text_.remove_prefix(length);
  return length > 0;
}

bool Scanner::Int(int64_t& value) {
  SkipBlanks();
  size_t length = text_.empty() || text_[0] != '-' ? 0 : 1;
  while (length < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[length])))
    ++length;
  if (!absl::SimpleAtoi(text_.substr(0, length), &value)) return false;
  text_.remove_prefix(length);
  return true;
}

bool Scanner::Double(double& value) {
  SkipBlanks();
  const auto read = absl::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (read.ptr == text_.data()) return false;
  text_.remove_prefix(read.ptr - text_.data());
  return true;
}

bool Scanner::String(std::string& value) {
  const char quote = Peek();
  if (quote != '"' && quote != '\'') return false;
  const size_t length = QuotedLength(text_);
  if (length == 0 || !absl::CUnescape(text_.substr(1, length - 2), &value)) return false;
  text_.remove_prefix(length);
  return true;
}

bool Scanner::Balanced(absl::string_view& text) {
  if (Peek() != '{') return false;
  int depth = 0;
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '"' || text_[i] == '\'') {
      const size_t length = QuotedLength(text_.substr(i));
      if (length == 0) return false;
      i += length - 1;
    } else if (text_[i] == '{') {
      ++depth;
    } else if (text_[i] == '}' && --depth == 0) {
      text = text_.substr(0, i + 1);
      text_.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
