// Which instructions around a conditional move across its boundary, and what that gains.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"

namespace hlokit {

// Instructions that move together: one of each branch, in the order of the branches, or one of the
// computation that holds the conditional.
struct MotionGroup {
  enum class Side : uint8_t {
    kInside,   // of the branches
    kReader,   // reads the conditional's result, perhaps through others
    kOperand,  // computes what the conditional takes
  };
  Side side = Side::kInside;
  std::vector<Instruction*> members;
  Instruction* first() const { return members.front(); }
  bool operator==(const MotionGroup&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const MotionGroup& g) {
    return H::combine(std::move(h), g.side, g.members);
  }
};

// What moves: `moved` in one direction, users before operands inside and for operands, operands
// before users for readers; `rest` are the groups next to them that stay.
struct Motion {
  std::vector<MotionGroup> moved, rest;
  int64_t benefit = 0;
};

// The motions that pay, of one direction.
struct MotionPlan {
  enum class Direction : uint8_t { kNone, kOut, kIn };
  Direction direction = Direction::kNone;
  std::vector<Motion> motions;
};

// How a conditional's motions are chosen: instructions are grouped from the roots of the branches
// down, from each reader up, and from each operand down, as long as every branch has the same one
// and nobody else needs it. A group moves where more pairs of instruction and user come to stand on
// one side (kReuse each, divided among several users) than are parted. Of both directions the one
// that gains more wins. Cost: linear in the branches and in what surrounds the conditional.
MotionPlan PlanMotions(Instruction* conditional);

// True if the branches' instructions are the same but for the values of their operands.
bool SameInEachBranch(const std::vector<Instruction*>& members);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
