// Which dots are loops over small products rather than calls of the runtime.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// True for a batched dot whose single products are so small that a call each would cost more.
bool IsSmallBatchedDot(const Instruction& instruction);

// True for products of a matrix of integers and a vector that LLVM makes good sums of: both lie
// along the summed dimension, and are no long bytes, which have kernels.
bool IsIntegerMatrixVector(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
