// Random bits written as instructions, one for one as XLA's compiler writes them.
#pragma once

#include <array>

#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

// What a generator gives: the words of the state that it moves on, and bits for each element.
struct RandomBits {
  Instruction* state;
  Instruction* values;  // unsigned, of the dimensions and the width that were asked for
};

// Philox-4x32 with 10 rounds; the same bits as rng-bit-generator's. `key` is u64[], `counter` is
// u64[2], the low word first. Elements of less than 32 bits take the low bits of a word each.
RandomBits PhiloxBits(HloWriter& w, Instruction* key, Instruction* counter, const Shape& shape);
// ThreeFry-2x32 with 20 rounds: `key` is u64[], `counter` is u64[1].
RandomBits ThreeFryBits(HloWriter& w, Instruction* key, Instruction* counter, const Shape& shape);

// The operation on two values, of which a scalar is spread over the other's array.
Instruction* Spread(HloWriter& w, Opcode opcode, Instruction* x, Instruction* y);

// How an array is made of pairs: `half` are the dimensions of all first members, `whole` those of
// both members next to each other along dimension `pair`, of size 2.
struct PairedDims {
  explicit PairedDims(absl::Span<const int64_t> dims);

  // The array of `dims` of what two arrays of `half` hold; of a scalar the first member alone.
  Instruction* Joined(HloWriter& w, absl::Span<const int64_t> dims,
                      const std::array<Instruction*, 2>& members) const;

  DimVector half, whole;
  int64_t split = 0;  // the dimension that is cut in two: the first even one, else the longest
  int64_t pair = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
