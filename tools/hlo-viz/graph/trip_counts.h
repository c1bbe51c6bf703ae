// How often the loops of a module run.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// By instruction id, 0 where it is not known or no loop: what a loop's backend_config says, else
// what while-loop-trip-count-annotator finds. Empty where the module has no loops.
std::vector<int64_t> TripCounts(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
