// Reads the attribute values that the IR keeps as text, once they have to become messages.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hlokit {

// Passes over the text token by token; blanks between tokens do not count. Each reader returns
// false, and moves nothing, where something else stands.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  bool AtEnd();
  // The next character that is no blank, 0 at the end.
  char Peek();
  bool Eat(absl::string_view token);
  bool Word(absl::string_view& word);  // letters, digits and any of _.-
  bool Int(int64_t& value);
  bool Double(double& value);
  // In single or double quotes; C escapes are undone.
  bool String(std::string& value);
  // From an opening brace to its partner, strings skipped.
  bool Balanced(absl::string_view& text);
  // open item,item,... close: calls `item` for each, which returns false to give up.
  template <typename Item>
  bool List(absl::string_view open, absl::string_view close, Item item) {
    if (!Eat(open)) return false;
    if (Eat(close)) return true;
    do {
      if (!item()) return false;
    } while (Eat(","));
    return Eat(close);
  }

 private:
  void SkipBlanks();
  absl::string_view text_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
