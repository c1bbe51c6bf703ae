// Forms of dots that some targets want.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// dot_normalizer: dots that contract nothing contract a dimension of size one. Exact.
std::unique_ptr<Pass> CreateDotNormalizer();

// dot_dimension_sorter: where neither side names its contracted dimensions in ascending order, the
// left one does, and the right one follows. Adds up the same products.
std::unique_ptr<Pass> CreateDotDimensionSorter();

// dot-strength-reduction: dots of real numbers with a side that has no dimension of its own
// (vectors, and matrices by vectors) become products and a sum; bf16 and f16 add up in f32. The
// order of the sum is the reduction's.
std::unique_ptr<Pass> CreateDotStrengthReduction();

// splitk-rewriter: dots of real numbers with one contracted dimension that is long (`least`
// elements, 8192) and whose result is small (at most 65,536 elements) contract it in parts
// (`parts`, 16), side by side as a batch, and add these up. Reassociates floats.
std::unique_ptr<Pass> CreateSplitKRewriter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
