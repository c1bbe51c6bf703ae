// What passes and rules ask of an instruction: constants, ranges, dimensions of size one.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "ir/instruction.h"

namespace hlokit {

// The scalar constant that every element of `i` equals: of a scalar constant, or of a broadcast of
// one.
const Literal* SplatValue(const Instruction* i);
// True if every element of `i` is the number `value`; for pred 0 and 1. -0 is no 0.
bool IsSplat(const Instruction* i, double value);
bool IsAllOnes(const Instruction* i);
// The integer that every element of `i` equals (of u64: its bits), if there is one.
std::optional<int64_t> IntegerSplat(const Instruction* i);
bool IsIota(absl::Span<const int64_t> dims);
// Same memory order of the same dimensions and type, so that one may stand for the other wherever
// it is used.
bool SameShape(const Shape& a, const Shape& b);
// The least and the greatest integer that an element of `i` can be, where its opcode bounds it: a
// clamp, maximum or minimum with constants, or a conversion of pred. Each may be absent.
struct IntegerRange {
  std::optional<int64_t> least, greatest;
};
IntegerRange RangeOf(const Instruction* i);
// True if the two have the same dimensions apart from those of size one, in the same order.
bool SameWithoutOnes(const Shape& a, const Shape& b);
// Moves `a` and `b` to the end of the smallest group of dimensions from there on, of `from` and
// `to`, that hold the same elements; none is of size 0.
void GroupEnd(const Shape& from, const Shape& to, int64_t& a, int64_t& b);
// Where each dimension of size above one of `from` lies in `to`, given SameWithoutOnes; -1 for
// those of size one.
DimVector MapWithoutOnes(const Shape& from, const Shape& to);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
