// batchnorm_expander: batch normalisation in reduces and arithmetic.
#pragma once

#include <vector>

#include "passes/framework/pass.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

// batch-norm-training, -inference and -grad become means, variances and arithmetic on each feature,
// in f32 where the array's type is narrower. Equal up to rounding. Cost: linear.
std::unique_ptr<Pass> CreateBatchNormExpander();

// How much of an array counts, where sizes are known at run time only.
struct BatchNormExtent {
  Instruction* count = nullptr;   // a scalar: elements a feature; null: those of the shape
  Instruction* inside = nullptr;  // pred of the array's shape: what counts; null: all
};

// What the batch normalisation `i` gives for `operands`, in the types of its results: one array, or
// the parts of its tuple.
std::vector<Instruction*> WriteBatchNorm(HloWriter& w, const Instruction& i,
                                         absl::Span<Instruction* const> operands,
                                         const BatchNormExtent& extent = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
