// Characters of MLIR text: spaces and comments, words, numbers, strings; and the first error.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "support/diagnostics.h"

namespace hlokit {

// Nesting of regions, types, attributes and locations.
inline constexpr int kMaxMlirDepth = 200;

class MlirScanner {
 public:
  explicit MlirScanner(absl::string_view text) : text_(text) {}

  void Skip();  // spaces and `// comments`
  bool AtEnd() { return Skip(), at_ >= text_.size(); }
  // The next character, 0 at the end; after spaces.
  char Peek() { return Skip(), at_ < text_.size() ? text_[at_] : '\0'; }
  char PeekHere() const { return at_ < text_.size() ? text_[at_] : '\0'; }  // spaces count
  bool Looking(absl::string_view at) { return Skip(), text_.substr(at_, at.size()) == at; }
  // Takes `punctuation` where it is next.
  bool Try(absl::string_view punctuation);
  bool TryHere(absl::string_view punctuation);  // no spaces before
  bool Expect(absl::string_view punctuation);
  // A whole word: letters, digits, `_`, `$`, `.`. Empty where none begins here.
  absl::string_view PeekWord();
  absl::string_view Word();
  bool TryWord(absl::string_view word);
  bool ExpectWord(absl::string_view word);
  // What follows a sigil: letters, digits and `$._-`.
  absl::string_view Suffix();
  bool Int(int64_t& value);         // decimal or 0x, with a sign
  bool DigitsHere(int64_t& value);  // decimal digits alone, no spaces before
  absl::string_view Number();       // the text of an integer or float; empty where there is none
  bool String(std::string& value);  // quoted, escapes resolved
  absl::string_view RawString();    // between the quotes as it stands; null data after an error
  size_t FindLast(absl::string_view what) const { return text_.rfind(what); }
  // Through the bracket that closes the one just taken; strings are passed over whole.
  bool SkipBalanced();

  uint32_t offset() const { return static_cast<uint32_t>(at_); }
  void Rewind(uint32_t offset) { at_ = offset; }
  absl::string_view From(uint32_t start) const { return text_.substr(start, at_ - start); }

  template <typename... Parts>
  bool Fail(const Parts&... parts) {
    Skip();
    return FailAt({offset(), 1}, parts...);
  }
  template <typename... Parts>
  bool FailAt(SourcePlace place, const Parts&... parts) {
    if (status_.ok())
      status_ = WithPlace(absl::InvalidArgumentError(absl::StrCat(parts...)), place);
    return false;
  }
  const absl::Status& status() const { return status_; }

 private:
  absl::string_view text_;
  size_t at_ = 0;
  absl::Status status_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
