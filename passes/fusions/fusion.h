// fusion: puts chains of instructions into fusions, which one loop computes without memory in
// between.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches producers that all their users can take in, where no element is then computed more often
// than worth it: elementwise operations and data movement into one another and into the operands of
// reductions, pointwise operations after a reduction, updates in place at the root. Cheap producers
// are copied into several users. Before that, reductions of rows are fused with the work on the
// same rows around them (softmax, layer norm), where one kernel then goes over each row several
// times. Expects row-major layouts. Leaves fusion instructions (kLoop)
// and nothing that only they needed. Cost: linear in the module, times a small bound on the size of
// a fusion.
std::unique_ptr<Pass> CreateFusion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
