// Rows computed by several threads of a GPU at once.
#pragma once

#include "codegen/kernel_strategies.h"

namespace hlokit {

// A strategy (codegen/kernel_strategies.h) for reductions along rows, and for work on the same rows
// before, between and after them (analysis/row_form): softmax and layer norm are one kernel. False
// for short rows and for columns whose results nothing but their roots reads: a thread each is as
// good there.
bool AddGroupRowKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
