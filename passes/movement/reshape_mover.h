// reshape-mover: reshapes and transposes below elementwise operations.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches elementwise operations all of whose operands are reshapes from one shape (or transposes
// of one kind), or constants and broadcasts of scalars, where every user of those reshapes can move
// too. Leaves the operation on what was reshaped and one reshape of its result. One level a run:
// what moved may move on in the next. Cost: linear.
std::unique_ptr<Pass> CreateReshapeMover();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
