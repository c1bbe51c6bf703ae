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
template <>
struct VectorOf<SignedByte> {};
template <>
struct VectorOf<UnsignedByte> {};
template <>
struct VectorOf<Float8E5M2> {};
template <>
struct VectorOf<Float8E4M3Fn> {};

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

#if HLOKIT_VECTOR_BYTES == 64
typedef __m256i HalfBits;  // of as many f16 as f32 has lanes
HLOKIT_INLINE VectorOf<float>::Type Widened(HalfBits x) { return _mm512_maskz_cvtph_ps(0xffff, x); }
HLOKIT_INLINE HalfBits LoadWords(const void* from) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(from)));
}
HLOKIT_INLINE HalfBits Words(int x) { return _mm256_set1_epi16(static_cast<int16_t>(x)); }
HLOKIT_INLINE VectorOf<float>::Type Load(const SignedByte* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepi8_epi32(0xffff, bytes));
}
HLOKIT_INLINE VectorOf<float>::Type Load(const UnsignedByte* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepu8_epi32(0xffff, bytes));
}
#elif HLOKIT_VECTOR_BYTES == 32
typedef __m128i HalfBits;
HLOKIT_INLINE VectorOf<float>::Type Widened(HalfBits x) { return _mm256_cvtph_ps(x); }
HLOKIT_INLINE HalfBits LoadWords(const void* from) {
  return _mm_cvtepu8_epi16(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
}
HLOKIT_INLINE HalfBits Words(int x) { return _mm_set1_epi16(static_cast<int16_t>(x)); }
HLOKIT_INLINE VectorOf<float>::Type Load(const SignedByte* from) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}
HLOKIT_INLINE VectorOf<float>::Type Load(const UnsignedByte* from) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}
#endif

#if HLOKIT_VECTOR_BYTES >= 32
HLOKIT_INLINE VectorOf<float>::Type Load(const Float8E5M2* from) {
  typedef uint16_t Bits __attribute__((vector_size(sizeof(HalfBits))));
  const auto words = reinterpret_cast<Bits>(LoadWords(from));
  return Widened(reinterpret_cast<HalfBits>(words << 8));
}
HLOKIT_INLINE VectorOf<float>::Type Load(const Float8E4M3Fn* from) {  // as ToFloat has it
  typedef uint16_t Bits __attribute__((vector_size(sizeof(HalfBits))));
  const auto words = reinterpret_cast<Bits>(LoadWords(from));
  const Bits rest = words & reinterpret_cast<Bits>(Words(0x7f));
  const Bits sign = (words & reinterpret_cast<Bits>(Words(0x80))) << 8;
  const auto is_nan = reinterpret_cast<Bits>(rest == reinterpret_cast<Bits>(Words(0x7f)));
  const Bits half = sign | rest << 7 | (is_nan & reinterpret_cast<Bits>(Words(0x7e00)));
  return Widened(reinterpret_cast<HalfBits>(half)) * 256.0f;
}
#else
template <typename S>
HLOKIT_INLINE VectorOf<float>::Type LoadOneByOne(const S* from) {
  return VectorOf<float>::Type{ToFloat(from[0]), ToFloat(from[1]), ToFloat(from[2]),
                               ToFloat(from[3])};
}
HLOKIT_INLINE VectorOf<float>::Type Load(const SignedByte* from) { return LoadOneByOne(from); }
HLOKIT_INLINE VectorOf<float>::Type Load(const UnsignedByte* from) { return LoadOneByOne(from); }
HLOKIT_INLINE VectorOf<float>::Type Load(const Float8E5M2* from) { return LoadOneByOne(from); }
HLOKIT_INLINE VectorOf<float>::Type Load(const Float8E4M3Fn* from) { return LoadOneByOne(from); }
#endif

template <typename S>
constexpr bool kIsByte = __is_same(S, SignedByte) || __is_same(S, UnsignedByte) ||
                         __is_same(S, Float8E5M2) || __is_same(S, Float8E4M3Fn);

// Element types that Load widens to T.
template <typename T, typename S>
constexpr bool kLoadsAsVector = __is_same(T, S) ||
                                (__is_same(T, float) &&
                                 (__is_same(S, Bfloat16) || kIsByte<S> ||
                                  (HLOKIT_VECTOR_BYTES >= 32 && __is_same(S, Half))));

// Written so that it is one instruction: x + 0 would be an addition, for the sake of -0.
template <typename T>
HLOKIT_INLINE typename VectorOf<T>::Type Broadcast(T x) {
  return x - typename VectorOf<T>::Type{};
}

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
