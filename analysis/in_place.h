// Which results may be written over an operand that dies there, and which ops move no data at all.
#pragma once

#include <optional>

#include "analysis/fusion_parts.h"
#include "ir/instruction.h"

namespace hlokit {

// True if the instruction's array results are its operand's bytes as they lie: bitcast, a reshape
// or copy that keeps the memory order, opt-barrier, domain, add-dependency. Operand 0 is the
// source.
bool IsPassThrough(const Instruction& instruction);

// True if arrays of the two shapes have equal dimensions and keep them in the same order in memory,
// dimensions of size 1 left out; of tuples, if all their elements do.
bool SameMemoryOrder(const Shape& a, const Shape& b);

// True if reshaping or reinterpreting `from` as `to` keeps every element's place in memory
// (row-major order under both layouts, size-1 dimensions ignored).
bool IsBitcast(const Shape& from, const Shape& to);

// True if result leaf `result_leaf` may lie in the buffer of leaf `operand_leaf` of operand
// `operand`: element i of the result is written only after the last read of element i, and no other
// element of the operand is read later. Leaves count depth first. `wanted` is set where sharing
// saves a copy (dynamic-update-slice, scatter, sort).
bool MayShareBuffer(const Instruction& instruction, int64_t operand, int64_t operand_leaf,
                    int64_t result_leaf, bool* wanted);

// The same for all operands and results of one instruction, whose parts are found once.
class BufferSharing {
 public:
  explicit BufferSharing(const Instruction& instruction) : i_(instruction) {}
  bool May(int64_t operand, int64_t operand_leaf, int64_t result_leaf, bool* wanted);

 private:
  bool FusionMay(int64_t operand, int64_t operand_leaf, int64_t result_leaf, bool* wanted);
  bool IsOneLoop(int64_t operand, int64_t result_leaf);

  const Instruction& i_;
  std::optional<FusionParts> parts_;  // of a fusion of several results, once asked for
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
