// algsimp: local algebra, from the rule tables of passes/simplify/.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Applies every rule that matches, again to what the rules make and to its users, until none does.
// Results agree bit for bit except that the sign of a floating zero may be lost, and floats are
// never reassociated. Cost: linear in the module plus the rewrites.
std::unique_ptr<Pass> CreateAlgsimp();

bool Simplify(Computation& computation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
