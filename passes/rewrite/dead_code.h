// Removes what nothing needs: what passes call at their end, and what the pass dce is made of.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Removes the instructions without users that are no root, parameter or control predecessor and
// have no side effect. True if there were any. Cost: linear.
bool RemoveDead(Computation& computation);

// Removes the computations that the entry does not reach. True if there were any. Cost: linear.
bool RemoveUncalled(Module& module);

// Removes the computations made since the module's computation_id_bound() was `first` that no older
// one reaches: reducers of rewrites that were given up. Cost: nothing where none was made, else
// linear.
void RemoveUncalledSince(Module& module, int64_t first);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
