// dynamic_padder: bounded dynamic shapes as static ones, with masks where sizes matter.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Matches dimensions that set-dimension-size, dynamic-reshape or the entry's parameters make
// dynamic, and what they flow into, through tuples, loops, branches and calls. Leaves arrays at
// their bounds, with a scalar s32 that says each size: sums and products over a dynamic dimension
// read the reduction's identity (or zero) behind it, sorts put what is behind last, concatenations
// place one part behind the other, reshapes and transforms compute where elements come from,
// get-dimension-size is the scalar. In tuples and loops' state an array of dynamic size becomes a
// tuple of the array and its sizes. The entry's dynamic parameters and results keep their shapes:
// set-dimension-size stands between them and the rest. Errors: Unimplemented, before anything is
// changed, for an instruction whose result depends on elements behind a size in another way (a
// collective, a custom call, a fusion); with the option keep-unknown such modules stay as they are.
// Cost: linear, but that a transform of dynamic length n becomes a product with n x n numbers.
std::unique_ptr<Pass> CreateDynamicPadder(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
