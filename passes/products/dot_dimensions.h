// batch-dot-simplification, dot_dimension_merger and dot_dimension_normalizer: fewer dimensions in
// dots.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// batch-dot-simplification. Matches dots with batch dimensions of size one; leaves a dot without
// them, and reshapes around it. Cost: linear.
std::unique_ptr<Pass> CreateBatchDotSimplification();

// dot_dimension_merger. Matches dots whose batch dimensions are the first of both sides, two or
// more of them; leaves a dot with one, and reshapes around it. Cost: linear.
std::unique_ptr<Pass> CreateDotDimensionMerger();

// dot_dimension_normalizer. Matches dots that contract several dimensions, which follow each other
// in both sides; leaves a dot that contracts one, and reshapes before it. Cost: linear.
std::unique_ptr<Pass> CreateDotDimensionNormalizer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
