// select_and_scatter_expander: select-and-scatter as a reduce-window and a scatter.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A reduce-window over the operand and its coordinates finds what each window selects (-1: padding,
// which never wins over an element), a scatter adds the sources there. Exact but for the order of
// sums. Cost: linear.
std::unique_ptr<Pass> CreateSelectAndScatterExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
