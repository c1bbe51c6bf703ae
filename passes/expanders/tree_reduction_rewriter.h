// tree_reduction_rewriter: long reductions in two steps.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// A reduce over a dimension longer than `window` (32) first reduces windows of that length, which
// rounds less and has shorter chains. Reassociates floats. Stay: reduces of several arrays, and
// those whose start is not the identity element (0 for add), which the first step would count more
// than once. With `rounded`: sums and products of floats narrower than f32 alone, which round at
// each step, and again and again until no dimension is longer, as ops/reducer.h has it for all
// backends.
std::unique_ptr<Pass> CreateTreeReductionRewriter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
