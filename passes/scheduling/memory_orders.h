// Orders of execution by the memory that they keep alive.
#pragma once

#include <vector>

#include "ir/computation.h"

namespace hlokit {

// Bytes alive at the worst moment of each computation, by its id; what no computation that runs
// calls has none.
using InnerPeaks = std::vector<int64_t>;

// The order of those tried that keeps the fewest bytes alive at its worst moment: operands as they
// come; operands that need most memory first; those first that others wait for longest; of all
// that could come next what frees most. The first where several are equal. `peak` gets its bytes,
// those inside what is called included, as `inner` has them. Parameters and constants do not count;
// tuples, their parts, bitcasts and the state of loops lie where their operands lie. Cost: n log n.
std::vector<Instruction*> MemoryOrder(const Computation& computation, const InnerPeaks& inner,
                                      int64_t& peak);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
