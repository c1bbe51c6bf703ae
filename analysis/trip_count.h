// How often a loop runs, as its backend_config says.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/instruction.h"

namespace hlokit {

// `"known_trip_count":{"n":"5"}`, as XLA and while-loop-trip-count-annotator write it; nothing
// where it does not say, and of instructions that are no loops.
std::optional<int64_t> KnownTripCount(const Instruction& loop);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
