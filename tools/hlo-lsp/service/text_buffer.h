// A document's text under edits, with its lines; positions as the protocol has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hlokit {

// 0-based; `character` counts UTF-16 units.
struct TextPosition {
  int64_t line = 0, character = 0;
};
struct TextRange {
  TextPosition start, end;
};

class TextBuffer {
 public:
  explicit TextBuffer(std::string text);

  absl::string_view text() const { return *text_; }
  // What the text is now; later edits leave it as it is.
  std::shared_ptr<const std::string> Snapshot() { return text_; }
  size_t line_count() const { return starts_.size(); }
  // Without the newline. Lines past the end are empty.
  absl::string_view Line(int64_t line) const;
  uint32_t LineStart(int64_t line) const;
  int64_t LineOf(uint32_t offset) const;

  // Positions past a line's end are its end, those past the last line the text's end.
  uint32_t OffsetOf(TextPosition position) const;
  TextPosition PositionOf(uint32_t offset) const;

  // Replaces [begin, end) by `inserted`.
  void Replace(uint32_t begin, uint32_t end, absl::string_view inserted);

 private:
  std::shared_ptr<std::string> text_;
  std::vector<uint32_t> starts_;  // of lines, the first is 0
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
