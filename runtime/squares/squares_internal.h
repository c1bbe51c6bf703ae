// Transposition of squares of one cache line a side, compiled once per instruction set.
#pragma once

#include <stdint.h>

namespace hlokit {

// Element j of line i becomes element i of line j; lines are `from_pitch` and `to_pitch` elements
// apart. The arrays do not overlap.
using MoveSquare = void (*)(const void* from, int64_t from_pitch, void* to, int64_t to_pitch);

// The same of `lines` lines of `length` elements, whatever their numbers.
using MovePart = void (*)(const void* from, int64_t from_pitch, void* to, int64_t to_pitch,
                          int64_t lines, int64_t length);

// By the base-2 logarithm of an element's bytes, 0 to 3. past_cache: those that write lines of
// their own past the caches (the target is aligned to them, and a fence must follow); null where
// the instruction set writes no whole line at once. part: what is no whole square.
struct SquareKernels {
  MoveSquare by_width[4], past_cache[4];
  MovePart part[4];
};

namespace isa_base {
extern const SquareKernels kSquares;
}
namespace isa_avx2 {
extern const SquareKernels kSquares;
}
namespace isa_avx512 {
extern const SquareKernels kSquares;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
