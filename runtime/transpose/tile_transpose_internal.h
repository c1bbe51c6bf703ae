// Tile transpose: the inner kernel of transposes and layout changes (runtime/movement/memory.cc). A
// tile is one cache line (64 bytes) in each direction, so that each line of source and target is
// touched once. Compiled once per instruction set.
#pragma once

#include <stdint.h>

namespace hlokit {

// Element j of line i becomes element i of line j; lines are `from_pitch` and `to_pitch` elements
// apart. The arrays do not overlap.
using TransposeTile = void (*)(const void* from, int64_t from_pitch, void* to, int64_t to_pitch);

// The same for `lines` lines of `length` elements, of any size.
using TransposePart = void (*)(const void* from, int64_t from_pitch, void* to, int64_t to_pitch,
                               int64_t lines, int64_t length);

// By the base-2 logarithm of an element's bytes, 0 to 3. non_temporal: those that write lines of
// their own with non-temporal stores (the target is aligned to them, and a fence must follow); null
// where the instruction set writes no whole line at once. part: what is no whole tile.
struct TileTransposeKernels {
  TransposeTile by_width[4], non_temporal[4];
  TransposePart part[4];
};

namespace isa_base {
extern const TileTransposeKernels kTileTransposes;
}
namespace isa_avx2 {
extern const TileTransposeKernels kTileTransposes;
}
namespace isa_avx512 {
extern const TileTransposeKernels kTileTransposes;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
