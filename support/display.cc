// A decoder of UTF-8 and a short table of widths.
#include "support/display.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace hlokit {
namespace {

struct Range {
  uint32_t first, last;
};
// After Unicode's EastAsianWidth: the blocks that are wide as a whole.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kCombining[] = {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
                                {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};

template <size_t n>
bool Holds(const Range (&ranges)[n], uint32_t code) {
  const Range* after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                        [](uint32_t c, const Range& r) { return c < r.first; });
  return after != ranges && code <= (after - 1)->last;
}

bool IsControl(uint32_t code) { return code < 0x20 || code == 0x7F; }

// Calls fn(character, its bytes) for each.
template <typename Fn>
void ForEachChar(absl::string_view text, Fn fn) {
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    fn(c, text.substr(0, c.size));
    text.remove_prefix(c.size);
  }
}

}  // namespace

Utf8Char DecodeUtf8(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const uint32_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {lead, 1, false};
  uint32_t code = lead & (0x7F >> size);
  for (uint32_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1, false};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid =
      code >= kLeast[size] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
  if (!valid) return {lead, 1, false};
  return {code, size, true};
}

int DisplayWidth(uint32_t code) {
  if (code < 0x300) return 1;
  return Holds(kCombining, code) ? 0 : Holds(kWide, code) ? 2 : 1;
}

std::string PrintableLine(absl::string_view text) {
  std::string out;
  ForEachChar(text, [&](const Utf8Char& c, absl::string_view bytes) {
    if (!c.valid || (IsControl(c.code) && c.code != '\t')) {
      out += '?';
    } else {
      out.append(bytes.data(), bytes.size());
    }
  });
  return out;
}

std::string BlanksLike(absl::string_view text) {
  std::string out;
  ForEachChar(text, [&](const Utf8Char& c, absl::string_view) {
    if (c.code == '\t') {
      out += '\t';
    } else {
      out.append(c.valid ? DisplayWidth(c.code) : 1, ' ');
    }
  });
  return out;
}

std::string Quotable(absl::string_view text, size_t most) {
  const bool cut = text.size() > most;
  if (cut) text = text.substr(0, most);
  std::string out;
  ForEachChar(text, [&](const Utf8Char& c, absl::string_view bytes) {
    if (c.valid && !(IsControl(c.code) && c.code != '\n' && c.code != '\t')) {
      out.append(bytes.data(), bytes.size());
    } else {
      absl::StrAppend(&out, "\\x", absl::Hex(static_cast<uint8_t>(bytes[0]), absl::kZeroPad2));
    }
  });
  if (cut) out += "...";
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
