// call-inliner: puts the bodies of called computations in the places of their calls.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches call instructions without control edges, callees before callers, so that calls of calls
// vanish too; where any was inlined, what nothing needs any more is removed. Calls marked
// inlineable="false" stay. Cost: the size of what is copied; where that comes to more than
// kMaxInlineGrowth times the module (and more than kFreelyInlined), calls stay.
inline constexpr int64_t kFreelyInlined = 200'000;  // instructions
inline constexpr int64_t kMaxInlineGrowth = 16;
std::unique_ptr<Pass> CreateCallInliner();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
