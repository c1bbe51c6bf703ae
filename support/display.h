// Text as a terminal shows it: characters, their widths, and what to write instead of bytes that
// are none.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "support/limits.h"

namespace hlokit {

// One character of UTF-8. A byte that belongs to none counts as a character of its own.
struct Utf8Char {
  uint32_t code = 0;
  uint32_t size = 1;  // in bytes
  bool valid = false;
};
// The character at the start of `text`, which is not empty.
Utf8Char DecodeUtf8(absl::string_view text);

// Columns that a terminal gives the character: 2 for the wide ones of East Asia and emoji, 0 for
// combining marks, else 1.
int DisplayWidth(uint32_t code);

// A source line as it can be shown: control bytes (tabs stay) and bytes that are no UTF-8 become
// '?', one for one.
std::string PrintableLine(absl::string_view text);
// As many blanks as PrintableLine(text) takes columns; tabs stay tabs.
std::string BlanksLike(absl::string_view text);

// Text to quote in a message: at most `most` bytes and "...", with control bytes and bytes that are
// no UTF-8 as \xNN.
std::string Quotable(absl::string_view text, size_t most = kMaxPartShown);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
