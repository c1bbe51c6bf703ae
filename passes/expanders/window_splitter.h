// window-splitter: windows in forms whose loops need no tests and few steps.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Of reduce-windows of one array whose function and start are known (add with 0, maximum with the
// lowest, ...), in row-major order:
// - padding along the fastest dimension becomes a pad, so that neighbours are read side by side;
// - windows of more than 36 elements become one after the other along each dimension, and long ones
//   of stride 1 windows of their square root over windows of that. Reassociates floats, so that
//   what rounds at each step stays.
// Scans stay. Cost: linear.
std::unique_ptr<Pass> CreateWindowSplitter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
