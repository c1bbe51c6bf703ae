// Random bits written as instructions.
#pragma once

#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

// What a generator gives: the state (u64[2] or u64[3]) after it, and bits for each element.
struct RandomBits {
  Instruction* state;
  Instruction* values;  // of the type and dimensions that were asked for
};

// Philox-4x32 with 10 rounds; the same bits as rng-bit-generator's. `state` is key, counter and, in
// u64[3], the counter's high half (which else is the key). Integers and floats take as many low
// bits of a word as they have.
RandomBits PhiloxBits(HloWriter& w, Instruction* state, const Shape& shape);
// ThreeFry-2x32 with 20 rounds, `state` being u64[2]: key, counter.
RandomBits ThreeFryBits(HloWriter& w, Instruction* state, const Shape& shape);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
