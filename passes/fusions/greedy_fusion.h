// Loops fused one producer at a time, as XLA's CPU compiler does.
#pragma once

#include "ir/computation.h"
#include "passes/framework/rewrite_control.h"

namespace hlokit {

// Fuses producers of `c` into consumers; true if there were any. See the source.
bool FuseGreedily(Computation& c, RewriteControl& control);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
