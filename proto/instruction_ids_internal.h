// Finds the instructions of a computation by the numbers that messages give them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/instructions_internal.h"

namespace hlokit {

// Instructions of one computation by their numbers, which are small as a rule.
class InstructionIds {
 public:
  void Reserve(size_t count) { small_.resize(4 * count + 64, nullptr); }
  // False where the number is taken.
  bool Add(int32_t id, Instruction* instruction) {
    if (static_cast<size_t>(id) >= small_.size()) return large_.try_emplace(id, instruction).second;
    return small_[id] == nullptr && (small_[id] = instruction);
  }
  Instruction* Find(int64_t id) const {
    const int32_t local = ProtoIds::Local(id);
    if (static_cast<size_t>(local) < small_.size()) return small_[local];
    const auto found = large_.find(local);
    return found == large_.end() ? nullptr : found->second;
  }

 private:
  std::vector<Instruction*> small_;
  absl::flat_hash_map<int32_t, Instruction*> large_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
