// eigh_expander: eigenvalues of symmetric matrices by rotations.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// The custom call Eigh of real matrices (of which the lower triangle counts, the upper one where
// its configuration begins with 0) becomes Jacobi's method: fifteen sweeps over all pairs of rows,
// each pair rotated so that the elements between them vanish, in one loop; then the eigenvalues are
// sorted, their vectors with them. Equal up to rounding and the signs of the vectors. Cost: as many
// instructions whatever the size; 8 n^2 rounds of n work.
std::unique_ptr<Pass> CreateEighExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
