// Passes that only look: they change nothing, and fail where they find what they look for.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// hlo-cycle-detection. Errors: InvalidArgument, naming the instructions, where one needs itself
// through operands and control dependences, in any computation. Cost: linear.
std::unique_ptr<Pass> CreateHloCycleDetection();

// unstable-reduction-detector. Errors: InvalidArgument, with its place, for the first reduce,
// reduce-window, all-reduce or reduce-scatter that adds or multiplies floats narrower than 32 bits
// in their own type, so that each step rounds. Cost: linear.
std::unique_ptr<Pass> CreateUnstableReductionDetector();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
