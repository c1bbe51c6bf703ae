// while-loop-constant-sinking: lets loop bodies see the constants of their initial state.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches parts of a loop's tuple that start as constants and that the body passes on unchanged;
// their readers in the body and the condition read a copy of the constant instead. Bodies and
// conditions with other callers are copied first. The parts stay in the tuple. Cost: linear.
std::unique_ptr<Pass> CreateWhileLoopConstantSinking();

// while-loop-fusible-sinking. The same for iotas and broadcasts of constants and iotas.
std::unique_ptr<Pass> CreateWhileLoopFusibleSinking();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
