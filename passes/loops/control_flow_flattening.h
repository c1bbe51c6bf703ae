// control-flow-flattening: programs that run alone, and as long as one says.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// For measuring how fast a program is away from its host and the other devices: changes values.
// Loops run `while-execution-count` (1) rounds, whatever their condition says; infeeds and what
// collectives give become zeros, outfeeds go (`keep-infeed-outfeed`, `keep-comm` leave them).
// Starts and dones of collectives stay. Cost: linear.
std::unique_ptr<Pass> CreateControlFlowFlattening(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
