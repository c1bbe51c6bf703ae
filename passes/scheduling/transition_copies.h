// Copies around values that cannot be copied: pinned buffers, and transfers under way.
#pragma once

#include "passes/rewrite/while_state.h"

namespace hlokit {

// A custom call that makes a buffer (b(f32[16])) of an array, whose memory it takes.
bool IsPin(const Instruction& i);

// Where one iteration starts a transfer, or pins a buffer, and the next ends it, both are under way
// in one body, so that what the end gives must not lie where the next start writes. Copies the
// results of such ends and the data that such sends read; a receive starts after the end of the one
// before. True if it changed. Cost: linear in the body for each part of the state.
bool CopyAroundTransfers(const WhileState& loop);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
