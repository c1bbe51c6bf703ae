// XLA's rules for names.
#include "ir/sanitized_name.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "types/element_type.h"

namespace hlokit {
namespace {

// The characters of names.
constexpr std::array<bool, 256> kFitsName = [] {
  std::array<bool, 256> fits{};
  for (size_t c = 0; c < fits.size(); ++c)
    fits[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '.' || c == '-';
  return fits;
}();

constexpr uint64_t kEight = 0x0101010101010101u;

// The high bit of each of eight ASCII characters that lies between these two.
constexpr uint64_t Between(uint64_t word, unsigned char first, unsigned char last) {
  return (word + kEight * (0x80 - first)) & ~(word + kEight * (0x7f - last));
}

// Whether eight characters fit a name; notes points.
bool FitName(uint64_t word, bool& has_point) {
  constexpr uint64_t kHigh = kEight * 0x80, kSmall = kEight * 0x20;
  if ((word & kHigh) != 0) return false;
  const uint64_t point = Between(word, '.', '.') & kHigh;
  has_point |= point != 0;
  const uint64_t fits = Between(word | kSmall, 'a', 'z') | Between(word, '0', '9') |
                        Between(word, '-', '-') | Between(word, '_', '_') | point;
  return (fits & kHigh) == kHigh;
}

}  // namespace

bool IsUsualName(absl::string_view name) {
  if (name.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(name[0]))) return false;
  // Eight characters at a time; the last ones twice, or filled up.
  bool has_point = false;
  const char* at = name.data();
  size_t left = name.size();
  for (; left >= sizeof(uint64_t); at += sizeof(uint64_t), left -= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    if (!FitName(word, has_point)) return false;
  }
  uint64_t rest = kEight * 'a';
  std::memcpy(&rest, at, left);
  return FitName(rest, has_point) && has_point;
}

std::string SanitizedName(absl::string_view name) {
  std::string result(name);
  if (result.empty() || IsUsualName(name)) return result;
  bool fits = true;
  for (const char c : name) fits &= kFitsName[static_cast<unsigned char>(c)];
  if (!fits)
    for (char& c : result)
      if (!kFitsName[static_cast<unsigned char>(c)]) c = '_';
  if (!absl::ascii_isalpha(static_cast<unsigned char>(result[0]))) result[0] = '_';
  if (absl::StartsWith(result, "__") && !absl::StartsWith(result, "__xla_")) result[0] = 'a';
  constexpr size_t kLongestType = 13;
  const bool short_enough = result.size() <= kLongestType && result.find('.') == std::string::npos;
  if (short_enough && result != "tuple" && ElementTypeFromText(result).has_value()) result += '_';
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
