// Names that no two things of one kind share, numbered as XLA numbers them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// A name is a root and a number: `add.3` is 3 of `add`, a name without a number is 0 of itself. A
// taken number is replaced by the lowest free one, so `add`, `add`, `add.0` become `add`, `add.1`,
// `add.2`, and the second `Arg_0.5` becomes `Arg_0.0`.
class NameUniquer {
 public:
  // `name` or a replacement; reserves what it returns.
  std::string Unique(absl::string_view name);
  // The same in place; the common case of a free name does not touch the string.
  void MakeUnique(std::string& name);

 private:
  // Whether the name, root and number in one spelling, was free; it is taken from now on.
  bool Take(absl::string_view name);
  // Where the fingerprint is in the table, or belongs.
  static uint64_t& Slot(std::vector<uint64_t>& table, uint64_t fingerprint);
  void Grow();

  // A hash table of the fingerprints of what is taken, 0 where free: names are many, and most are
  // only ever asked for once. Two names of one fingerprint, of which there will be none, would
  // merely be numbered as if they were equal.
  std::vector<uint64_t> taken_;
  size_t size_ = 0;
  absl::flat_hash_map<std::string, int64_t> next_;  // the first number to try after a clash
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
