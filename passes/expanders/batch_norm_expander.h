// batchnorm_expander: batch normalisation in reduces and arithmetic.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// batch-norm-training, -inference and -grad become means, variances and arithmetic on each feature,
// in f32 where the array's type is narrower. Equal up to rounding. Cost: linear.
std::unique_ptr<Pass> CreateBatchNormExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
