// fusion-wrapper and dot-library-rewriter: single instructions as fusions.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// fusion-wrapper. Matches elementwise instructions, data movement and reductions that stand outside
// fusions; leaves a loop fusion of the one instruction, named wrapped_OP. Constants, tuples,
// bitcasts and products stay. Cost: linear.
std::unique_ptr<Pass> CreateFusionWrapper();

// dot-library-rewriter. Matches products, rows by columns, of f32, f64 and s8 in the plain form
// whose left side is contracted along its last dimension; leaves a custom fusion marked
// __ynn_fusion, as XLA does for its matrix library. Cost: linear.
std::unique_ptr<Pass> CreateDotLibraryRewriter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
