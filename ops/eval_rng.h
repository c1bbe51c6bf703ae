// The block cipher under three_fry.
#pragma once

#include <array>
#include <cstdint>

namespace hlokit {

// Threefry-2x32 with 20 rounds: two words under a key of two, low words first.
std::array<uint32_t, 2> ThreeFry(uint64_t counter, uint64_t key);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
