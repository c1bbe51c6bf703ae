// hlo-module-dce: dead instructions, and state of loops that only computes itself.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches parts of a loop's tuple that nobody reads behind the loop and that neither the condition
// nor a part that is read needs; the body passes them on as they came. Then removes what dce does.
// Expects bodies with one caller. Cost: linear in the module, times the depth of loops' parts.
std::unique_ptr<Pass> CreateHloModuleDce();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
