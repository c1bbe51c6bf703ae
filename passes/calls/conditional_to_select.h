// conditional-to-select: conditionals where only plain operations may stand.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches conditionals of two branches without side effects that give an array, in the functions of
// map, reduce and the like. Leaves both branches in their place, and a select. Cost: the size of
// the branches.
std::unique_ptr<Pass> CreateConditionalToSelect();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
