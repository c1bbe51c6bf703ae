// dce: removes what nothing needs.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches instructions without users that are no root, parameter or control predecessor and have no
// side effect, in every computation; then computations that the entry does not reach. Cost: linear.
std::unique_ptr<Pass> CreateDce();

// Removes the computations that the entry does not reach.
bool RemoveUncalled(Module& module);

// The first of the two within one computation.
bool RemoveDead(Computation& computation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
