// dynamic_padder: bounded dynamic shapes as static ones, with masks where sizes matter.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Matches dimensions that set-dimension-size or the entry's parameters make dynamic, and what they
// flow into. Leaves arrays at their bounds, with a scalar s32 that says each size: sums and
// products over a dynamic dimension read the reduction's identity (or zero) behind it,
// concatenations place one part behind the other, get-dimension-size is the scalar. The entry's
// dynamic parameters and results keep their shapes: set-dimension-size stands between them and the
// rest. Errors: Unimplemented, before anything is changed, for an instruction whose result depends
// on elements behind a size in another way (sorts, windows, dynamic-reshape, loops over dynamic
// state); with the option keep-unknown such modules stay as they are. Cost: linear.
std::unique_ptr<Pass> CreateDynamicPadder(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
