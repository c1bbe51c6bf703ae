// What a module's way through Shardy's dialect and back does to functions, loops and constants.
#pragma once

#include <utility>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// Functions that were given a copy for each further caller, so that each copy may be cut its own
// way: the copy and what it was made of.
using FunctionCopies = std::vector<std::pair<Computation*, Computation*>>;

// Gives each caller its own function and each loop its own body; above a limit of copied
// instructions the rest stay shared. Cost: the size of the copies.
FunctionCopies SplitSharedFunctions(Module& module);

// Calls of copies whose instructions were all given the shardings of the first function call the
// first again. The bodies of loops stay apart, as regions of a dialect do. Cost: linear.
void JoinEqualFunctions(Module& module, const FunctionCopies& copies);

// Constants that a loop only reads move into its body and condition, and its state loses their
// parts. Expects computations with one caller. True if it changed something.
bool SinkLoopConstants(Module& module);

// Gives each user of an array that is made of constants alone an array of its own, so that no
// sharding spreads from one user to another by way of it. True if it changed something.
bool SplitConstantArrays(Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
