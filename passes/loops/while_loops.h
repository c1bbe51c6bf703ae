// simplify-while-loops and while-loop-invariant-code-motion: less work in and around loops.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// simplify-while-loops. Matches parts of a loop's tuple that its body passes on unchanged (their
// users read the initial value), and loops that count an integer from a constant to a constant and
// do not run at all or run once. Parts that nobody needs leave the tuple. Cost: linear.
std::unique_ptr<Pass> CreateSimplifyWhileLoops();

// while-loop-invariant-code-motion. Matches instructions of a body that need only constants and
// parts of the tuple that never change, and are worth keeping: arrays that take work, or many
// elements, to make; they move before the loop and become parts of its tuple. Expects bodies with
// one caller (flatten-call-graph). Tuples that are only taken apart go, and of several reads of one
// part one stays. Cost: linear.
std::unique_ptr<Pass> CreateWhileLoopInvariantCodeMotion();

// while-loop-expensive-invariant-code-motion. The same for products and reductions alone.
std::unique_ptr<Pass> CreateWhileLoopExpensiveInvariantCodeMotion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
