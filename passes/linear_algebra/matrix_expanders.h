// Factorizations and solves of matrices as loops of simple operations.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Each is a loop over the columns (rows) of all matrices of a stack at once. Equal up to rounding.
// Cost: as many instructions whatever the size; n rounds of n^2 work.

// cholesky_expander. A matrix that is not positive definite gives NaNs, as before.
std::unique_ptr<Pass> CreateCholeskyExpander();
// triangular_solve_expander.
std::unique_ptr<Pass> CreateTriangularSolveExpander();
// qr_expander: custom calls Qr (Householder's reflectors below R, and their factors) and
// ProductOfElementaryHouseholderReflectors, of real matrices.
std::unique_ptr<Pass> CreateQrExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
