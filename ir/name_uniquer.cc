// Splits names into root and number and hands out free numbers.
#include "ir/name_uniquer.h"

#include <charconv>

#include "absl/strings/str_cat.h"

namespace hlokit {
namespace {

struct Split {
  absl::string_view root;
  int64_t number = 0;
  bool has_number = false;
};

Split SplitName(absl::string_view name) {
  Split split{name};
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || dot == 0 || dot + 1 == name.size()) return split;
  int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + dot + 1, end, number);
  if (result.ec != std::errc() || result.ptr != end) return split;
  return {name.substr(0, dot), number, true};
}

// Whether the digits read back as they stand: 7 does, 007 and -0 do not.
bool IsPlain(absl::string_view name, const Split& split) {
  const absl::string_view digits = name.substr(split.root.size() + 1);
  return digits.size() == 1 || (digits[0] != '0' && digits.substr(0, 2) != "-0");
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
