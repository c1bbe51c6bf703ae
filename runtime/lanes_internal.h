// Vectors of a chosen number of lanes, and transposition of tiles of them. The including file
// defines HLOKIT_ISA (a namespace) and is compiled for one instruction set.
#pragma once

#include "runtime/element.h"

namespace hlokit::HLOKIT_ISA {

template <typename T, int kLanes>
struct Lanes {
  typedef T Type __attribute__((vector_size(kLanes * sizeof(T))));
  typedef T Unaligned __attribute__((vector_size(kLanes * sizeof(T)), aligned(1), may_alias));
};
template <typename T>
struct Lanes<T, 1> {
  typedef T Type;
  typedef T Unaligned;
};

template <int kLanes, typename T>
HLOKIT_INLINE typename Lanes<T, kLanes>::Type LoadLanes(const T* from) {
  return *reinterpret_cast<const typename Lanes<T, kLanes>::Unaligned*>(from);
}
template <int kLanes, typename T>
HLOKIT_INLINE void StoreLanes(T* to, typename Lanes<T, kLanes>::Type value) {
  *reinterpret_cast<typename Lanes<T, kLanes>::Unaligned*>(to) = value;
}

template <typename T, int... kI>
HLOKIT_INLINE void InterleaveRows(typename Lanes<T, sizeof...(kI)>::Type* rows) {
  constexpr int kLanes = sizeof...(kI);
  typename Lanes<T, kLanes>::Type next[kLanes];
#pragma GCC unroll 8
  for (int step = 1; step < kLanes; step *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes / 2; ++i) {
      const auto a = rows[i], b = rows[i + kLanes / 2];
      next[2 * i] = __builtin_shufflevector(a, b, (kI / 2 + kI % 2 * kLanes)...);
      next[2 * i + 1] = __builtin_shufflevector(a, b, (kLanes / 2 + kI / 2 + kI % 2 * kLanes)...);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

// Transposes a tile of lanes: log2(kLanes) rounds that interleave row i with row i + kLanes / 2.
template <typename T, int kLanes>
HLOKIT_INLINE void TransposeRows(typename Lanes<T, kLanes>::Type* rows) {
  if constexpr (kLanes == 2) InterleaveRows<T, 0, 1>(rows);
  if constexpr (kLanes == 4) InterleaveRows<T, 0, 1, 2, 3>(rows);
  if constexpr (kLanes == 8) InterleaveRows<T, 0, 1, 2, 3, 4, 5, 6, 7>(rows);
  if constexpr (kLanes == 16)
    InterleaveRows<T, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(rows);
}

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
