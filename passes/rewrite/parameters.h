// Changes of a computation's parameter list.
#pragma once

#include "ir/computation.h"

namespace hlokit {

// Removes parameter `k`, which nothing reads; those after it move up. The callers' operands are
// the caller's care.
void RemoveParameter(Computation& computation, int64_t k);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
