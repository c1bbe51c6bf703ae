// Random inputs: a function of seed, parameter leaf and element alone, so every platform gets the
// same.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "types/literal.h"

namespace hlokit {

struct RandomRanges {
  double float_low = -1, float_high = 1;  // [low, high)
  int64_t int_low = 0, int_high = 7;      // both included, cut to what the type holds
  // Floats of either sign with exponents all over the type's normal range, instead of the above.
  bool large_floats = false;
  bool normal = false;  // floats of mean 0 and variance 1, instead of float_low to float_high
};

// Fills an array: floats and complex parts uniform (or normal), integers uniform, pred fair coins.
void FillRandom(Literal& literal, uint64_t stream, const RandomRanges& ranges);

// ResourceExhausted where arrays of these shapes cannot fit into this machine's memory.
absl::Status CheckFits(absl::Span<const Shape* const> shapes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
