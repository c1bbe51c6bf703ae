// Splits names into root and number and hands out free numbers.
#include "ir/name_uniquer.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "support/text.h"

namespace hlokit {
namespace {

struct Split {
  absl::string_view root;
  int64_t number = 0;
  bool has_number = false;
};

// The last point that has something on both sides sets off a number, if an integer of 64 bits
// follows it: `a.007` is 7 of `a`, `a.-1` is -1 of it, `a.` has no number.
Split SplitName(absl::string_view name) {
  const size_t point = name.rfind('.');
  if (point == absl::string_view::npos || point == 0 || point + 1 == name.size()) return {name};
  const absl::string_view digits = name.substr(point + 1);
  const char last = digits.back();  // most names end here
  int64_t number = 0;
  if (last < '0' || last > '9') return {name};
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) return {name};
  return {name.substr(0, point), number, true};
}

// The name as it is numbered: `a.0` keeps its number, unlike a name that had none.
std::string Numbered(absl::string_view root, int64_t number, bool has_number) {
  return number == 0 && !has_number ? std::string(root) : absl::StrCat(root, ".", number);
}

// Whether the digits are those that the number is printed with: 7 is, 007 and -0 are not.
bool IsPlain(absl::string_view name, const Split& split) {
  absl::string_view digits = name.substr(split.root.size() + 1);
  if (digits == "0") return true;
  if (digits.front() == '-') digits.remove_prefix(1);
  return digits.front() != '0';
}

}  // namespace

bool NameUniquer::Take(absl::string_view name) {
  if (2 * (size_ + 1) > taken_.size()) Grow();
  const uint64_t fingerprint = HashText(name) | 1;  // 0 is a free slot's
  uint64_t& slot = Slot(taken_, fingerprint);
  if (slot != 0) return false;
  slot = fingerprint;
  ++size_;
  return true;
}

uint64_t& NameUniquer::Slot(std::vector<uint64_t>& table, uint64_t fingerprint) {
  const size_t mask = table.size() - 1;
  size_t at = (fingerprint >> 1) & mask;
  while (table[at] != 0 && table[at] != fingerprint) at = (at + 1) & mask;
  return table[at];
}

void NameUniquer::Grow() {
  // Small tables are sparse for a while, so that each name moves once and not twice.
  constexpr size_t kSmall = size_t{1} << 14;
  const size_t factor = taken_.size() < kSmall ? 4 : 2;
  std::vector<uint64_t> larger(std::max<size_t>(factor * taken_.size(), 64), 0);
  for (const uint64_t fingerprint : taken_)
    if (fingerprint != 0) Slot(larger, fingerprint) = fingerprint;
  taken_ = std::move(larger);
}

void NameUniquer::MakeUnique(std::string& name) {
  const Split split = SplitName(name);
  const bool plain = !split.has_number || IsPlain(name, split);
  if (!plain) name = absl::StrCat(split.root, ".", split.number);
  const absl::string_view root = absl::string_view(name).substr(0, split.root.size());
  if (Take(split.number == 0 ? root : absl::string_view(name))) return;
  int64_t& next = next_.try_emplace(root, 0).first->second;
  while (!Take(Numbered(root, next, /*has_number=*/false))) ++next;
  name = Numbered(root, next++, split.has_number);
}

std::string NameUniquer::Unique(absl::string_view name) {
  std::string unique(name);
  MakeUnique(unique);
  return unique;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
