// Element type numbers of kernel descriptors (those of XLA's PrimitiveType) and conversions of the
// half-width floats. Included by files that are compiled for one instruction set: only static,
// always-inlined code here.
#pragma once

#include <stdint.h>
#include <string.h>

enum HlokitType {
  HLOKIT_PRED = 1,
  HLOKIT_S8 = 2,
  HLOKIT_S16 = 3,
  HLOKIT_S32 = 4,
  HLOKIT_S64 = 5,
  HLOKIT_U8 = 6,
  HLOKIT_U16 = 7,
  HLOKIT_U32 = 8,
  HLOKIT_U64 = 9,
  HLOKIT_F16 = 10,
  HLOKIT_F32 = 11,
  HLOKIT_F64 = 12,
  HLOKIT_C64 = 15,
  HLOKIT_BF16 = 16,
  HLOKIT_C128 = 18,
  HLOKIT_F8E5M2 = 19,
  HLOKIT_F8E4M3FN = 20,
};

#ifdef __cplusplus
#define HLOKIT_INLINE static inline __attribute__((always_inline, unused))

namespace hlokit {

// Where an array lies; one without elements may have no address, yet offsets are added to it.
HLOKIT_INLINE const char* BytesOf(const void* array) {
  static constexpr char kNone = 0;
  return array == nullptr ? &kNone : static_cast<const char*>(array);
}

// Bytes of one element; 0 for a number that is no type kernels know.
HLOKIT_INLINE int64_t ElementBytes(int64_t type) {
  switch (type) {
    case HLOKIT_PRED:
    case HLOKIT_S8:
    case HLOKIT_U8:
    case HLOKIT_F8E5M2:
    case HLOKIT_F8E4M3FN:
      return 1;
    case HLOKIT_S16:
    case HLOKIT_U16:
    case HLOKIT_F16:
    case HLOKIT_BF16:
      return 2;
    case HLOKIT_S32:
    case HLOKIT_U32:
    case HLOKIT_F32:
      return 4;
    case HLOKIT_S64:
    case HLOKIT_U64:
    case HLOKIT_F64:
    case HLOKIT_C64:
      return 8;
    case HLOKIT_C128:
      return 16;
    default:
      return 0;
  }
}

HLOKIT_INLINE bool IsFloatType(int64_t type) {
  return type == HLOKIT_F16 || type == HLOKIT_BF16 || type == HLOKIT_F32 || type == HLOKIT_F64;
}
HLOKIT_INLINE bool IsComplexType(int64_t type) { return type == HLOKIT_C64 || type == HLOKIT_C128; }
HLOKIT_INLINE bool IsIntegerType(int64_t type) { return type >= HLOKIT_S8 && type <= HLOKIT_U64; }

// Storage of the 16-bit floats; distinct types, so that templates and overloads tell them apart.
struct Bfloat16 {
  uint16_t bits;
};
struct Half {
  uint16_t bits;
};
// Bytes that products of floats read as operands: weights that were quantized. Integers of fewer
// bits take a byte each too.
struct SignedByte {
  int8_t value;
};
struct UnsignedByte {
  uint8_t value;
};
struct Float8E5M2 {
  uint8_t bits;
};
struct Float8E4M3Fn {
  uint8_t bits;
};

HLOKIT_INLINE float FloatFromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
HLOKIT_INLINE uint32_t BitsFromFloat(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

HLOKIT_INLINE float ToFloat(Bfloat16 x) {
  return FloatFromBits(static_cast<uint32_t>(x.bits) << 16);
}

// Branches are selects, so that loops over it vectorize.
HLOKIT_INLINE float ToFloat(Half x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16;
  const uint32_t rest = static_cast<uint32_t>(x.bits & 0x7fff) << 13;
  const uint32_t special = rest + 0x70000000u;                       // infinity and NaN
  const uint32_t normal = rest + 0x38000000u;                        // exponent 15 becomes 127
  const float small = FloatFromBits(rest + 0x38800000u) - 0x1p-14f;  // subnormals, exactly
  const uint32_t finite = rest < 0x00800000u ? BitsFromFloat(small) : normal;
  return FloatFromBits(sign | (rest >= 0x0f800000u ? special : finite));
}

HLOKIT_INLINE float ToFloat(SignedByte x) { return static_cast<float>(x.value); }
HLOKIT_INLINE float ToFloat(UnsignedByte x) { return static_cast<float>(x.value); }
HLOKIT_INLINE float ToFloat(Float8E5M2 x) {  // the upper half of an f16
  return ToFloat(Half{static_cast<uint16_t>(x.bits << 8)});
}
// The bits of an f16 but for a bias of 7 instead of 15; its largest number is NaN.
HLOKIT_INLINE float ToFloat(Float8E4M3Fn x) {
  const int half = (x.bits & 0x80) << 8 | (x.bits & 0x7f) << 7;
  const int nan = (x.bits & 0x7f) == 0x7f ? 0x7e00 : 0;
  return ToFloat(Half{static_cast<uint16_t>(half | nan)}) * 256.0f;
}

// To nearest, ties to even; a NaN stays quiet and keeps its sign.
HLOKIT_INLINE Bfloat16 ToBfloat16(float x) {
  const uint32_t bits = BitsFromFloat(x);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40;
  return {static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded)};
}

HLOKIT_INLINE Half ToHalf(float x) {
  const uint32_t bits = BitsFromFloat(x);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Adding 0.5 leaves the rounded multiple of 2^-24 in the low bits.
  const uint32_t small = BitsFromFloat(FloatFromBits(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00 : half;
  half = magnitude > 0x7f800000u ? (0x7e00 | ((magnitude >> 13) & 0x1ff)) : half;
  return {static_cast<uint16_t>(sign | half)};
}

}  // namespace hlokit
#endif
// SPDX-License-Identifier: Apache-2.0
