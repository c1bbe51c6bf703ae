// Names that no two things of one kind share, numbered as XLA numbers them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// A name is a root and a number: `add.3` is 3 of `add`, a name without a number is 0 of itself. A
// taken number is replaced by the lowest free one from 1 on, so `add`, `add`, `add.0` become `add`,
// `add.1`, `add.2`.
class NameUniquer {
 public:
  // `name` or a replacement; reserves what it returns.
  std::string Unique(absl::string_view name);
  // The same in place; the common case of a free name does not touch the string.
  void MakeUnique(std::string& name);

 private:
  struct Numbers {
    absl::flat_hash_set<int64_t> used;
    int64_t next = 1;
    bool zero_used = false;  // most roots have 0 alone
  };
  // The number to take for the wanted one.
  static int64_t Register(Numbers& numbers, int64_t wanted);

  absl::flat_hash_map<std::string, Numbers> roots_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
