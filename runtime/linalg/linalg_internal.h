// Cholesky factors and triangular systems by OpenBLAS, where it is installed.
#pragma once

#include <stdint.h>

#include "runtime/linalg/linalg.h"

namespace hlokit {

// As hlokit_cholesky and hlokit_triangular_solve on elements of type T (float, double and complex
// ones of these), for matrices large enough to repay the call. False (and nothing done) if the
// library is not there, or takes no such layout.
template <typename T>
bool CholeskyByLibrary(void* ctx, const HlokitCholeskyDesc& d, const void* from, void* to,
                       int32_t* info);
template <typename T>
bool SolveByLibrary(void* ctx, const HlokitTriangularSolveDesc& d, const void* a, const void* b,
                    void* x);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
