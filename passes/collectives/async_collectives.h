// Collectives in two halves made one again: for passes of this folder and of GPUs.
#pragma once

#include <functional>

#include "passes/framework/pass.h"

namespace hlokit {

// What a pass adds: it sees the start and the collective that takes the pair's place.
using OnMadeSync = std::function<void(const Instruction& start, Instruction& made)>;
// Whether collectives of an opcode are made synchronous; all where it is null.
using TakesOpcode = std::function<bool(Opcode)>;

// Makes synchronous collectives of all starts that only their done reads, and of async-starts
// around one collective. True if there were any. Cost: linear.
absl::StatusOr<bool> MakeAllSync(Computation& c, RewriteControl& control, absl::string_view name,
                                 const OnMadeSync& on_made = nullptr,
                                 const TakesOpcode& takes = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
