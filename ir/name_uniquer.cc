// Splits names into root and number and hands out free numbers.
#include "ir/name_uniquer.h"

#include "absl/strings/str_cat.h"

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

int64_t NameUniquer::Register(Numbers& numbers, int64_t wanted) {
  if (wanted == 0 && !numbers.zero_used) {
    numbers.zero_used = true;
    return 0;
  }
  if (wanted != 0 && numbers.used.insert(wanted).second) return wanted;
  while (!numbers.used.insert(numbers.next).second) ++numbers.next;
  return numbers.next++;
}

void NameUniquer::MakeUnique(std::string& name) {
  const Split split = SplitName(name);
  const int64_t number = Register(roots_[split.root], split.number);
  if (number == split.number && (!split.has_number || IsPlain(name, split))) return;
  name = absl::StrCat(split.root, ".", number);
}

std::string NameUniquer::Unique(absl::string_view name) {
  std::string unique(name);
  MakeUnique(unique);
  return unique;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
