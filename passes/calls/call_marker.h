// Calls that can be found again once they were inlined.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// call-marker: the operands and the result of calls (option `calls`: only those of this
// computation) go through custom calls hlokit.call_before and hlokit.call_after, which carry the
// call's name and give their operands as they are. Calls without operands, or with results or
// operands that are no arrays, stay.
std::unique_ptr<Pass> CreateCallMarker(PassArguments& arguments);

// call-outliner: what lies between a hlokit.call_after and the hlokit.call_before of its name
// becomes a computation, and a call of it; both marks go. What it needs besides are parameters
// too, but for constants and what spreads them. Left alone: marks with instructions of side effects
// between them. Exact.
std::unique_ptr<Pass> CreateCallOutliner();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
