// dot_decomposer: gives every dot the form batch, rows, contracted x batch, contracted, columns.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A dot that contracts other than one dimension, keeps more than one of an operand, or has batch
// dimensions elsewhere than in front becomes transposes and reshapes of both operands, a dot of the
// plain form, and a reshape of its result. Values are the same bit for bit up to the order of the
// sums. Cost: linear.
std::unique_ptr<Pass> CreateDotDecomposer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
