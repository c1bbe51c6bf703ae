// Dimensions that have a run-time size although their shape declares them static, and dimensions
// that are declared dynamic and have none.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Run-time sizes go from set-dimension-size on through what uses the array, whatever shapes are
// declared: the sum of s32[4] set-dimension-size(x, n) is that of n elements. Source: XLA's
// inference of dynamic dimensions, which follows values and no shapes.
//
// Whether a dimension of the module is declared static and has such a size. Cost: linear, and next
// to nothing where no instruction touches dynamic dimensions.
bool HidesDynamicDimensions(const Module& module);

// Declares those dimensions dynamic; false where there are none. Results of the entry keep their
// shapes, and get-dimension-size of a dimension that was declared static gives its bound, as in
// XLA.
bool DeclareDynamicDimensions(Module& module);

// No size reaches f32[<=4] iota(), nor a broadcast of a scalar, nor what is computed from these
// alone: they are static, and no operand of size 1 is broadcast to them.
//
// Whether the module declares such a dimension dynamic. Cost: linear.
bool DeclaresUnsizedDimensions(const Module& module);

// Declares those dimensions static, but for arrays that are results, or parts of tuples, or handed
// to computations. Comes before DeclareDynamicDimensions.
void ForgetUnsizedDimensions(Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
