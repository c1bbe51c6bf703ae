// gather_expander: gathers as slices and loops over them.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// A gather of windows that are whole operands becomes a broadcast, one with a single index vector a
// dynamic-slice. With the option `all`, others become a loop that takes a slice a round; without it
// they stay, as on XLA's CPU. Gathers with dynamic dimensions stay. Exact. Cost: linear.
std::unique_ptr<Pass> CreateGatherExpander(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
