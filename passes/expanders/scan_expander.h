// Operations with a body or groups as loops and masks.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// scan_expander: scan becomes a loop that calls its computation on a slice a round. Exact.
std::unique_ptr<Pass> CreateScanExpander();

// ragged_dot_rewriter: a ragged dot becomes a dot of all groups, of which each row's own is kept by
// a mask. Infinities of one group reach the others as NaN. Ragged batch dimensions, and group sizes
// of more than one dimension, stay.
std::unique_ptr<Pass> CreateRaggedDotRewriter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
