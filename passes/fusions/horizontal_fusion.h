// horizontal_loop_fusion and horizontal_input_fusion: small loops beside each other made one.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// horizontal_loop_fusion. Matches elementwise instructions and loop fusions of such, of any sizes,
// that are too small to be shared out to threads and do not wait for each other: those that only
// the root reads, and those at one depth. Leaves fusions of a tuple with up to sixteen of them and
// at most 8 MiB, whose parts have no array in common, where there is enough work for threads.
// Cost: linear.
std::unique_ptr<Pass> CreateHorizontalLoopFusion();

// horizontal_input_fusion. The same of reductions, and of fusions that end in some.
std::unique_ptr<Pass> CreateHorizontalInputFusion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
