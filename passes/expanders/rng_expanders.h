// Random numbers as arithmetic.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// rng-bit-generator-expander: calls of functions that compute Philox (also where the algorithm is
// left open) or ThreeFry on arrays of counters. Exact. Cost: some hundred instructions each.
std::unique_ptr<Pass> CreateRngBitGeneratorExpander();

// rng-expander: rng becomes Philox bits of a key of its own, and what makes numbers of the wanted
// distribution from them. The numbers are the same in each run of the module, and others than
// before the pass.
std::unique_ptr<Pass> CreateRngExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
