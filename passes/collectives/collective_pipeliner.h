// Collectives of loops, one round earlier or later, or after all rounds.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// All three match loops that count from a constant to a constant, run at least once and have no
// side effects. Exact.

// collective-pipeliner-forward. Matches collectives whose result, perhaps reshaped or converted, a
// round does nothing with but write it into a part of the state that it does not read: each round
// makes that of the round before, which waits in the state; the last is made behind the loop.
std::unique_ptr<Pass> CreateCollectivePipelinerForward();

// collective-pipeliner-backward. Matches collectives that need only the loop's counter and what
// never changes: each round makes that of the next round, the first is made before the loop, and
// the last round runs behind it.
std::unique_ptr<Pass> CreateCollectivePipelinerBackward();

// collective-pipeliner-forward-sink. Matches all-reduces that each round writes as a row of its own
// of an array that the loop fills from the first row to the last: one all-reduce of the whole array
// follows the loop.
std::unique_ptr<Pass> CreateCollectivePipelinerForwardSink();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
