// Rounding: small floating-point formats, and arithmetic in PTX's rounding modes.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace hlokit::ptx {

enum class Rounding : uint8_t {
  kNearest,      // .rn: ties to even
  kZero,         // .rz
  kDown,         // .rm
  kUp,           // .rp
  kNearestAway,  // .rna
};

// A binary format narrower than f32.
struct Format {
  int exponent_bits, mantissa_bits;
  int bias;
  uint32_t max_bits;  // the largest finite magnitude
  uint32_t infinity;  // what overflow gives; equal to nan where there is none
  uint32_t nan;       // the canonical NaN
};

inline constexpr Format kFormatF16 = {5, 10, 15, 0x7bff, 0x7c00, 0x7fff};
inline constexpr Format kFormatBF16 = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fff};
// tf32 keeps f32's place: its 19 bits are the upper ones of 32.
inline constexpr Format kFormatTF32 = {8, 10, 127, 0x3fbff, 0x3fc00, 0x3ffff};
inline constexpr Format kFormatE4M3 = {4, 3, 7, 0x7e, 0x7f, 0x7f};
inline constexpr Format kFormatE5M2 = {5, 2, 15, 0x7b, 0x7c, 0x7f};
inline constexpr Format kFormatE2M1 = {2, 1, 1, 0x7, 0x7, 0x7};
inline constexpr Format kFormatE3M2 = {3, 2, 3, 0x1f, 0x1f, 0x1f};
inline constexpr Format kFormatE2M3 = {2, 3, 1, 0x1f, 0x1f, 0x1f};

// The bits of `value` in `format`, sign included. With `saturate`, what is too large becomes the
// largest finite value. One rounding: an f32 or f64 is a double exactly.
uint32_t RoundToFormat(double value, const Format& format, Rounding rounding, bool saturate);
double ValueOfFormat(uint32_t bits, const Format& format);
// The same with random bits: the magnitude goes up where what is cut off, as a fraction of the last
// place, and `random` / 2^random_bits are 1 or more together.
uint32_t RoundRandomly(double value, const Format& format, uint32_t random, int random_bits,
                       bool saturate);

// The common case of RoundToFormat, nearest: the result is normal and its exponent field has a bias
// of `bias`. `shift` is what the mantissa has too much.
template <int kShift, int kBias>
inline bool RoundNormal(double value, uint16_t& result) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  const uint64_t exponent = magnitude >> 52;
  if (exponent - (1024 - kBias) >= 2 * kBias) return false;
  const uint64_t half = (uint64_t{1} << (kShift - 1)) - 1;
  const uint64_t rounded = (magnitude + half + (magnitude >> kShift & 1)) >> kShift;
  const uint64_t rebias = static_cast<uint64_t>(1023 - kBias) << (52 - kShift);
  result = static_cast<uint16_t>((rounded - rebias) | (bits >> 63 << 15));
  return true;
}

inline uint16_t RoundToF16(double value) {
  uint16_t result;
  if (RoundNormal<42, 15>(value, result)) return result;
  return static_cast<uint16_t>(RoundToFormat(value, kFormatF16, Rounding::kNearest, false));
}
inline uint16_t RoundToBF16(double value) {
  uint16_t result;
  if (RoundNormal<45, 127>(value, result)) return result;
  return static_cast<uint16_t>(RoundToFormat(value, kFormatBF16, Rounding::kNearest, false));
}

// f16 and bf16 to f32, exactly.
inline float F16Value(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7fffu;
  uint32_t wide = (magnitude << 13) + 0x38000000u;
  if (magnitude >= 0x7c00) wide += 0x38000000u;
  if (magnitude < 0x400)  // subnormal: 2^-24 units
    wide = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  return std::bit_cast<float>(wide | uint32_t(bits & 0x8000u) << 16);
}
inline float BF16Value(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// a + b with the last bit set where it is inexact ("round to odd"): rounding the sum again to at
// most 50 bits is as if it were done once.
inline double AddToOdd(double a, double b) {
  const double sum = a + b;
  const double back = sum - a;
  const double error = (a - (sum - back)) + (b - back);
  if (error == 0 || !std::isfinite(sum)) return sum;
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (bits & 1) return sum;
  // The exact sum lies between two doubles; the odd one of them is wanted.
  bits += (error > 0) == (sum > 0) ? 1 : -1;
  return std::bit_cast<double>(bits);
}

// The processor's rounding mode while it lives. Values must come from and go to memory inside,
// which the barriers keep in order.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : saved_(std::fegetround()) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    std::fesetround(kModes[static_cast<int>(rounding)]);
    asm volatile("" ::: "memory");
  }
  ~RoundingScope() {
    asm volatile("" ::: "memory");
    std::fesetround(saved_);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int saved_;
};

inline float FlushF32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
// PTX's f32 arithmetic knows one NaN.
inline float CanonicalNan(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
