// simplify-conditional: choices that are known beforehand.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches conditionals on a constant; leaves a call of the branch taken, for call-inliner. Parts of
// a conditional's result that nobody reads leave its tuple. Cost: linear; the size of branches that
// have other callers too, which are copied.
std::unique_ptr<Pass> CreateSimplifyConditional();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
