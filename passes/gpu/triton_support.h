// What XLA's emitter for Triton has code for, and how it cuts a result into tiles.
#pragma once

#include <string>

#include "ir/module.h"

namespace hlokit {

// Whether one instruction, apart from what it reads, can stand in a fusion for Triton.
bool TritonHas(const Instruction& i);
// Whether all of a computation can, that of reducers included.
bool TritonHas(const Computation& computation);

// The backend_config of a fusion for Triton: tiles of these sizes, one list for each result.
//   {"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{...}}}
void WriteTiles(Instruction& fusion, absl::Span<const DimVector> tiles);
// Whether it has one already.
bool IsTritonFusion(const Instruction& i);

// A tile of `shape`: the minor dimensions whole (to the next power of two) while they hold no more
// than `most` elements, then a power of two of the next, then 1.
DimVector TileOf(const Shape& shape, int64_t most);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
