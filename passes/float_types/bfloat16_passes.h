// Where bf16 is computed in, and where f32.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// bf16-mixed-precision-removal: an elementwise operation, dot or convolution on bf16 and f32 at
// once computes in f32. Equal up to the rounding of products.
std::unique_ptr<Pass> CreateBf16MixedPrecisionRemoval();

// bfloat16-fold: a dot or convolution of widened bf16 takes the bf16 itself, and what only moves or
// picks widened values works on bf16 and widens its result. Exact.
std::unique_ptr<Pass> CreateBfloat16Fold();

// bfloat16-propagation: what only moves or picks f32 values for a conversion to bf16 works on
// converted operands. Exact.
std::unique_ptr<Pass> CreateBfloat16Propagation();

// stochastic_convert_decomposer: stochastic-convert to integers in terms of the fraction and a
// comparison with the random bits; to floats it stays. Exact.
std::unique_ptr<Pass> CreateStochasticConvertDecomposer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
