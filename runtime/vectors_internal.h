// Whole vector registers of one instruction set: the including file defines HLOKIT_ISA (a
// namespace) and HLOKIT_VECTOR_BYTES. No standard C++ headers here: their inline functions would be
// shared with code for lesser machines.
#pragma once

#if HLOKIT_VECTOR_BYTES >= 32
#include <immintrin.h>
#endif

#include "runtime/element.h"

namespace hlokit::HLOKIT_ISA {

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));
  typedef T Unaligned __attribute__((vector_size(HLOKIT_VECTOR_BYTES), aligned(1), may_alias));
  static constexpr int kLanes = HLOKIT_VECTOR_BYTES / sizeof(T);
};
template <>
struct VectorOf<Bfloat16> {};  // no vector of its own: loading widens it
template <>
struct VectorOf<Half> {};  // likewise

template <typename T>
HLOKIT_INLINE typename VectorOf<T>::Type Load(const T* from) {
  return *reinterpret_cast<const typename VectorOf<T>::Unaligned*>(from);
}
template <typename T>
HLOKIT_INLINE void Store(T* to, typename VectorOf<T>::Type value) {
  *reinterpret_cast<typename VectorOf<T>::Unaligned*>(to) = value;
}

// bf16 widens to f32 by a shift.
HLOKIT_INLINE VectorOf<float>::Type Load(const Bfloat16* from) {
  typedef uint16_t Narrow
      __attribute__((vector_size(HLOKIT_VECTOR_BYTES / 2), aligned(1), may_alias));
  typedef uint32_t Wide __attribute__((vector_size(HLOKIT_VECTOR_BYTES)));
  const Wide wide = __builtin_convertvector(*reinterpret_cast<const Narrow*>(from), Wide) << 16;
  return reinterpret_cast<VectorOf<float>::Type>(wide);
}

#if HLOKIT_VECTOR_BYTES >= 32
HLOKIT_INLINE VectorOf<float>::Type Load(const Half* from) {
#if HLOKIT_VECTOR_BYTES == 64
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#else
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
}
#endif

// Element types that Load widens to T.
template <typename T, typename S>
constexpr bool kLoadsAsVector = __is_same(T, S) ||
                                (__is_same(T, float) &&
                                 (__is_same(S, Bfloat16) ||
                                  (HLOKIT_VECTOR_BYTES >= 32 && __is_same(S, Half))));

// Written so that it is one instruction: x + 0 would be an addition, for the sake of -0.
template <typename T>
HLOKIT_INLINE typename VectorOf<T>::Type Broadcast(T x) {
  return x - typename VectorOf<T>::Type{};
}

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
