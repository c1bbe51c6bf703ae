// unrounded-products: what converts a product to f32 gets its sums.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A dot or convolution of bf16 that a convert to f32 reads gives its sums as f32, which that
// convert stands for, and is rounded for all others: what XLA's CPU makes of
// xla_allow_excess_precision. Elementwise results keep their digits in fused loops (docs/cpu.md).
std::unique_ptr<Pass> CreateUnroundedProducts();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
