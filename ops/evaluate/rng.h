// The block cipher under three_fry, and the generator of the process.
#pragma once

#include <array>
#include <cstdint>

namespace hlokit {

// Threefry-2x32 with 20 rounds: two words under a key of two, low words first.
std::array<uint32_t, 2> ThreeFry(uint64_t counter, uint64_t key);

// Sets the process's one generator, of rng and rng-get-and-update-state, to where it starts, so
// that two evaluations draw the same numbers in the same order.
void RestartGenerator();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
