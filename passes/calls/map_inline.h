// map-inline: maps as the operations they apply.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches map whose function consists of elementwise operations and constants; leaves those
// operations on whole arrays. Cost: linear.
std::unique_ptr<Pass> CreateMapInline();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
