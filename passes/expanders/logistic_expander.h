// logistic-expander: writes logistic(x) as 1 / (1 + exp(-x)).
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Results may differ from logistic's own by a few ulp. Cost: linear.
std::unique_ptr<Pass> CreateLogisticExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
