// dce: removes what nothing needs.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// Matches instructions without users that are no root, parameter or control predecessor and have no
// side effect, in every computation; then computations that the entry does not reach. Cost: linear.
std::unique_ptr<Pass> CreateDce();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
