// Finds the instructions of a computation by the numbers that messages give them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/instructions_internal.h"

namespace hlokit {

// Instructions of one computation by their numbers, which as a rule are near each other.
class InstructionIds {
 public:
  explicit InstructionIds(int64_t count = 0) : count_(static_cast<int32_t>(count)) {}
  // False where the number is taken.
  bool Add(int32_t id, Instruction* instruction) {
    if (near_.empty()) {
      near_.resize(2 * size_t(count_) + 16, nullptr);
      first_ = id - std::min(id, count_ / 2);
    }
    const size_t at = At(id);
    if (at >= near_.size()) return far_.try_emplace(id, instruction).second;
    return near_[at] == nullptr && (near_[at] = instruction);
  }
  Instruction* Find(int64_t id) const {
    const int32_t local = ProtoIds::Local(id);
    if (const size_t at = At(local); at < near_.size()) return near_[at];
    const auto found = far_.find(local);
    return found == far_.end() ? nullptr : found->second;
  }

 private:
  size_t At(int32_t id) const { return static_cast<size_t>(int64_t{id} - first_); }

  int32_t count_, first_ = 0;
  std::vector<Instruction*> near_;  // from first_ on
  absl::flat_hash_map<int32_t, Instruction*> far_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
