// tree_reduction_rewriter: long reductions in two steps.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// A reduce over a dimension longer than `window` (32) first reduces windows of that length, which
// rounds less and has shorter chains. Reassociates floats. Stay: reduces of several arrays, and
// those whose start is not neutral (0 for add), which the first step would count more than once.
std::unique_ptr<Pass> CreateTreeReductionRewriter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
