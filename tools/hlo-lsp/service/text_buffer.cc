// Edits move the starts of the lines after them; nothing else is counted anew. Where a snapshot is
// held, the first edit after it copies the text (50 MB take about 10 ms).
//
// The protocol counts characters of a line in UTF-16 units, the text is UTF-8: `a€𝄞` has units
// 1, 1 and 2, bytes 1, 3 and 4. So a position is converted by walking its line from the start, an
// offset by a binary search for its line and the same walk. A line costs its length, the text a
// logarithm.
#include "tools/hlo-lsp/service/text_buffer.h"

#include <algorithm>
#include <cstring>

namespace hlokit {
namespace {

void FindLineStarts(absl::string_view text, uint32_t base, std::vector<uint32_t>& starts) {
  const char* const data = text.data();
  const char* at = data;
  const char* const end = data + text.size();
  while (at < end) {
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (at == nullptr) return;
    ++at;
    starts.push_back(base + static_cast<uint32_t>(at - data));
  }
}

// Bytes of the character that begins with this one, and its UTF-16 units. Bytes that begin none
// count as one character.
int BytesOf(unsigned char first) {
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 1;
}
int UnitsOf(unsigned char first) { return first >= 0xf0 && first < 0xf8 ? 2 : 1; }

}  // namespace

TextBuffer::TextBuffer(std::string text) : text_(std::make_shared<std::string>(std::move(text))) {
  starts_.push_back(0);
  FindLineStarts(*text_, 0, starts_);
}

uint32_t TextBuffer::LineStart(int64_t line) const {
  if (line < 0) return 0;
  if (line >= static_cast<int64_t>(starts_.size())) return static_cast<uint32_t>(text_->size());
  return starts_[static_cast<size_t>(line)];
}

absl::string_view TextBuffer::Line(int64_t line) const {
  if (line < 0 || line >= static_cast<int64_t>(starts_.size())) return {};
  const uint32_t begin = LineStart(line), end = LineStart(line + 1);
  absl::string_view text = absl::string_view(*text_).substr(begin, end - begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

int64_t TextBuffer::LineOf(uint32_t offset) const {
  return std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin() - 1;
}

uint32_t TextBuffer::OffsetOf(TextPosition position) const {
  const uint32_t begin = LineStart(position.line);
  const absl::string_view line = Line(position.line);
  size_t at = 0;
  for (int64_t units = 0; at < line.size() && units < position.character;) {
    const auto first = static_cast<unsigned char>(line[at]);
    units += UnitsOf(first);
    at += static_cast<size_t>(BytesOf(first));
  }
  return begin + static_cast<uint32_t>(std::min(at, line.size()));
}

TextPosition TextBuffer::PositionOf(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_->size()));
  TextPosition position;
  position.line = LineOf(offset);
  for (size_t at = LineStart(position.line); at < offset;) {
    const auto first = static_cast<unsigned char>((*text_)[at]);
    position.character += UnitsOf(first);
    at += static_cast<size_t>(BytesOf(first));
  }
  return position;
}

void TextBuffer::Replace(uint32_t begin, uint32_t end, absl::string_view inserted) {
  const auto size = static_cast<uint32_t>(text_->size());
  begin = std::min(begin, size);
  end = std::clamp(end, begin, size);
  if (text_.use_count() > 1) text_ = std::make_shared<std::string>(*text_);
  text_->replace(begin, end - begin, inserted.data(), inserted.size());
  const auto first = std::upper_bound(starts_.begin(), starts_.end(), begin);
  const auto last = std::upper_bound(first, starts_.end(), end);
  std::vector<uint32_t> fresh;
  FindLineStarts(inserted, begin, fresh);
  const auto moved = static_cast<uint32_t>(inserted.size()) - (end - begin);  // may wrap
  const size_t keep = static_cast<size_t>(first - starts_.begin());
  const size_t gone = static_cast<size_t>(last - first);
  if (fresh.size() == gone) {
    std::copy(fresh.begin(), fresh.end(), starts_.begin() + static_cast<int64_t>(keep));
  } else {
    starts_.erase(first, last);
    starts_.insert(starts_.begin() + static_cast<int64_t>(keep), fresh.begin(), fresh.end());
  }
  for (size_t k = keep + fresh.size(); k < starts_.size(); ++k) starts_[k] += moved;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
