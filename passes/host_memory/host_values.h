// The places of a module that hold one value between being moved to the host and read back.
#pragma once

#include <utility>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// An array within what an instruction gives.
struct ValuePlace {
  Instruction* instruction;
  ShapeIndex index;
  bool operator==(const ValuePlace&) const = default;
};

// Operand `operand` of `user`, an array, which reads a place of the set without being one itself.
struct PlaceRead {
  Instruction* user;
  int64_t operand;
};

// All places that hold one array without computing with it.
struct HostValue {
  std::vector<ValuePlace> places;
  std::vector<Instruction*> makers;  // arrays that something else than the set makes
  std::vector<PlaceRead> reads;      // what computes with it
  bool escapes = false;              // by a way that cannot be followed
};

// Follows an array forwards and backwards through tuples, their parts, barriers, bitcasts, calls,
// loops and the operand that an update is written into. Results of the module are reads, unless
// entry_computation_layout has them on the host. Cost: the places times what they are read by.
HostValue FollowValue(Instruction* array);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
