// Squares in vector registers; the including file defines HLOKIT_ISA and HLOKIT_VECTOR_BYTES.
#pragma once

#include <string.h>

#include "runtime/lanes_internal.h"
#include "runtime/squares_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

template <typename T>
void Move(const void* from_data, int64_t from_pitch, void* to_data, int64_t to_pitch) {
  constexpr int kEdge = 64 / sizeof(T), kFit = HLOKIT_VECTOR_BYTES / sizeof(T);
  constexpr int kLanes = kFit > 16 ? 16 : kFit;
  const T* from = static_cast<const T*>(from_data);
  T* to = static_cast<T*>(to_data);
  // Lines are read whole: their addresses may fall together in the cache.
  alignas(64) T square[kLanes < kEdge ? kEdge * kEdge : 1];
  if constexpr (kLanes < kEdge) {
    for (int64_t i = 0; i < kEdge; ++i) memcpy(square + i * kEdge, from + i * from_pitch, 64);
    from = square;
    from_pitch = kEdge;
  }
  for (int64_t j = 0; j < kEdge; j += kLanes) {
    for (int64_t i = 0; i < kEdge; i += kLanes) {
      typename Lanes<T, kLanes>::Type rows[kLanes];
#pragma GCC unroll 16
      for (int k = 0; k < kLanes; ++k) rows[k] = LoadLanes<kLanes>(from + (i + k) * from_pitch + j);
      TransposeRows<T, kLanes>(rows);
#pragma GCC unroll 16
      for (int k = 0; k < kLanes; ++k) StoreLanes<kLanes>(to + (j + k) * to_pitch + i, rows[k]);
    }
  }
}

}  // namespace

constexpr SquareKernels kSquares = {
    {&Move<uint8_t>, &Move<uint16_t>, &Move<uint32_t>, &Move<uint64_t>}};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
