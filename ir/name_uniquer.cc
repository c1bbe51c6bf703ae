// Splits names into root and number and hands out free numbers.
#include "ir/name_uniquer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "support/text.h"

namespace hlokit {
namespace {

struct Split {
  absl::string_view root;
  int64_t number = 0;
  bool has_number = false;
};

Split SplitName(absl::string_view name) {
  size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  const size_t digits = name.size() - at;
  if (digits == 0 || digits > 18 || at < 2 || name[at - 1] != '.') return {name};
  int64_t number = 0;
  for (size_t i = at; i < name.size(); ++i) number = number * 10 + (name[i] - '0');
  return {name.substr(0, at - 1), number, true};
}

// Whether the digits read back as they stand: 7 does, 007 does not.
bool IsPlain(absl::string_view name, const Split& split) {
  return name.size() == split.root.size() + 2 || name[split.root.size() + 1] != '0';
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
  int64_t& next = next_.try_emplace(root, 1).first->second;
  std::string free;
  do free = absl::StrCat(root, ".", next++);
  while (!Take(free));
  name = std::move(free);
}

std::string NameUniquer::Unique(absl::string_view name) {
  std::string unique(name);
  MakeUnique(unique);
  return unique;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
