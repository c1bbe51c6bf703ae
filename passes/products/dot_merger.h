// dot-merger: products with one matrix as one product.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Products whose result is no larger than this are merged.
inline constexpr int64_t kMaxMergedDotBytes = int64_t{32} << 20;

// Matches dots of matrices, contracted alike, that share their left side and of which none needs
// another. Leaves one dot with the right sides side by side, and slices of it. Cost: the number of
// dots of one left side, squared.
std::unique_ptr<Pass> CreateDotMerger();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
