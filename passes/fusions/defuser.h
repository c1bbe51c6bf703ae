// defuser, fusion_constant_sinking and control-dep-remover: what a target has chosen, undone.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// defuser. Puts the body of every fusion in its place, those inside fusions first. Cost: linear.
std::unique_ptr<Pass> CreateDefuser();

// fusion_constant_sinking. Matches scalar constants that fusions take as operands; leaves copies of
// them inside, and fusions without the operands. Cost: linear.
std::unique_ptr<Pass> CreateFusionConstantSinking();

// control-dep-remover. Removes all control edges but those from one send or recv, or its done, to
// another: without them a device may wait for its own message. Cost: linear.
std::unique_ptr<Pass> CreateControlDepRemover();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
