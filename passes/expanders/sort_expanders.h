// Sorts in the terms that targets have.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// stable-sort-expander: a stable sort becomes one that need not be: positions come along as a last
// operand and decide where the keys compare equal both ways. Exact.
std::unique_ptr<Pass> CreateStableSortExpander();

// dynamic-index-splitter: starts of dynamic-slice and dynamic-update-slice that come as one list
// become a scalar each. Exact.
std::unique_ptr<Pass> CreateDynamicIndexSplitter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
