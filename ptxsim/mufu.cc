// Functions by table: operands to segment and place, quadratics in units of 2^-17 of a result's
// last bit, results put together.
#include "ptxsim/mufu.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace hlokit::ptx {
namespace {

enum class MufuFunction { kRcp, kRsqrt, kSqrt, kEx2, kLg2, kSin };

struct Segment {
  MufuFunction function;
  int32_t constant, slope, curvature;
};

constexpr Segment kSegments[] = {
#define HLOKIT_PTX_MUFU(function, constant, slope, curvature) \
  {MufuFunction::k##function, constant, slope, curvature},
#include "ptxsim/mufu.def"
#undef HLOKIT_PTX_MUFU
};

constexpr int kPlaceBits = 17;  // of x in a segment
constexpr int kColumns = 19;    // of the square that are not summed
constexpr int64_t kPlaces = int64_t{1} << kPlaceBits;
constexpr int kLogBits = 12;  // of a logarithm below the last of 24
constexpr uint32_t kMantissa = 0x7fffff, kSign = 0x80000000u, kInfinity = 0x7f800000u;
constexpr int kQuadrantBits = 23;

// First row and rounding constant of a function.
struct Table {
  int first;
  int32_t bias;
};
constexpr Table kTables[] = {{0, 8094}, {128, -1}, {256, -1}, {384, 24458}, {448, 6700}, {512, 0}};

// x * x without the partial products below the column kColumns, divided by 2^kColumns.
uint16_t SquareWithoutColumns(uint32_t x) {
  uint64_t sum = 0;
  for (int i = 0; i < kPlaceBits; ++i) {
    if (!(x >> i & 1)) continue;
    if (2 * i >= kColumns) sum += uint64_t{1} << (2 * i);
    for (int j = i + 1; j < kPlaceBits; ++j)
      if ((x >> j & 1) && i + j + 1 >= kColumns) sum += uint64_t{1} << (i + j + 1);
  }
  return static_cast<uint16_t>(sum >> kColumns);
}

const std::vector<uint16_t>& Squares() {
  static const std::vector<uint16_t> squares = [] {
    std::vector<uint16_t> made(kPlaces);
    for (uint32_t x = 0; x < kPlaces; ++x) made[x] = SquareWithoutColumns(x);
    return made;
  }();
  return squares;
}

// The quadratic, in units of 2^-kPlaceBits of the last of 24 bits.
int64_t Quadratic(MufuFunction function, uint32_t segment, uint32_t x) {
  const Table& table = kTables[static_cast<int>(function)];
  const Segment& s = kSegments[table.first + static_cast<int>(segment)];
  return int64_t{s.constant} * (kPlaces / 4) + int64_t{s.slope} * x +
         int64_t{2} * s.curvature * Squares()[x] + table.bias;
}

// 24 bits of a result of 23 bits of mantissa, in 128 segments of half the places or in 64.
int64_t Bits24(MufuFunction function, uint32_t segments, uint32_t period, uint32_t mantissa) {
  const uint32_t segment =
      segments == 128 ? mantissa >> 16 : period * 64 + (mantissa >> kPlaceBits);
  const uint32_t x =
      segments == 128 ? (mantissa & 0xffff) << 1 : mantissa & static_cast<uint32_t>(kPlaces - 1);
  return Quadratic(function, segment, x) >> kPlaceBits;
}

uint32_t BitsOf(float x) { return std::bit_cast<uint32_t>(x); }
int ExponentOf(uint32_t bits) { return static_cast<int>(bits >> 23 & 255) - 127; }
bool IsZeroOrDenormal(uint32_t bits) { return (bits & kInfinity) == 0; }
float SignedZero(uint32_t sign) { return std::bit_cast<float>(sign & kSign); }
float SignedInfinity(uint32_t sign) { return std::bit_cast<float>((sign & kSign) | kInfinity); }

// bits24 * 2^exponent, which is exact; denormal results become zeros.
float Scaled(int64_t bits24, int exponent) {
  const double value = std::ldexp(static_cast<double>(bits24), exponent);
  if (std::fabs(value) < std::numeric_limits<float>::min())
    return std::copysign(0.0f, static_cast<float>(value));
  return static_cast<float>(value);
}

// magnitude * 2^exponent, cut to 24 bits.
float Cut(int64_t magnitude, bool negative, int exponent) {
  if (magnitude <= 0) return negative ? -0.0f : 0.0f;
  const int extra = 64 - std::countl_zero(static_cast<uint64_t>(magnitude)) - 24;
  if (extra > 0) magnitude = magnitude >> extra << extra;
  const double value = std::ldexp(static_cast<double>(magnitude), exponent);
  return static_cast<float>(negative ? -value : value);
}

// Roots: the mantissas of [1, 4) are two periods of 64 segments.
struct RootOperand {
  uint32_t period, mantissa;
  int half_exponent;
};
RootOperand RootOf(uint32_t mantissa, int exponent) {
  const uint32_t period = static_cast<uint32_t>(exponent) & 1;
  return {period, mantissa, (exponent - static_cast<int>(period)) / 2};
}
int64_t RsqrtBits(const RootOperand& root) {
  if (root.period == 0 && root.mantissa == 0) return int64_t{1} << 24;
  return Bits24(MufuFunction::kRsqrt, 64, root.period, root.mantissa);
}

// sin of a quarter turn's 23 bits, kPlaceBits below the last of 24.
int64_t QuarterSine(uint32_t q) {
  return Quadratic(MufuFunction::kSin, q >> kPlaceBits, q & static_cast<uint32_t>(kPlaces - 1));
}

// `ahead` quarters are added to the angle.
float SineOfTurns(float turns, uint32_t ahead) {
  const uint32_t bits = BitsOf(turns);
  if ((bits & kInfinity) == kInfinity) return std::numeric_limits<float>::quiet_NaN();
  const bool negative = ahead == 0 && (bits & kSign);
  const int shift = ExponentOf(bits) - 23 + kQuadrantBits + 2;
  const uint64_t whole = IsZeroOrDenormal(bits) ? 0 : (bits & kMantissa) | (kMantissa + 1);
  uint64_t place = shift >= 40 || shift <= -24 ? 0 : shift >= 0 ? whole << shift : whole >> -shift;
  place += uint64_t{ahead} << kQuadrantBits;
  const uint32_t quadrant = place >> kQuadrantBits & 3;
  const uint32_t q = place & kMantissa;
  const int64_t sine = QuarterSine(quadrant & 1 ? kMantissa - q : q);
  return Cut(sine, negative != (quadrant >= 2), -24 - kPlaceBits);
}

float TurnsOf(float x, bool flush) {
  if (flush && IsZeroOrDenormal(BitsOf(x))) return SignedZero(BitsOf(x));
  const double exact = static_cast<double>(x) * double{0.15915494f};
  const float near = static_cast<float>(exact);
  return std::fabs(double{near}) > std::fabs(exact) ? std::nextafter(near, 0.0f) : near;
}

}  // namespace

float MufuRcp(float x) {
  const uint32_t bits = BitsOf(x);
  if (x != x) return x;
  if (IsZeroOrDenormal(bits)) return SignedInfinity(bits);
  if (std::isinf(x)) return SignedZero(bits);
  const float size =
      Scaled(Bits24(MufuFunction::kRcp, 128, 0, bits & kMantissa), -24 - ExponentOf(bits));
  return bits & kSign ? -size : size;
}

float MufuRsqrt(float x) {
  const uint32_t bits = BitsOf(x);
  if (IsZeroOrDenormal(bits)) return SignedInfinity(bits);
  if (x != x || (bits & kSign)) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(x)) return 0;
  const RootOperand root = RootOf(bits & kMantissa, ExponentOf(bits));
  return Scaled(RsqrtBits(root), -24 - root.half_exponent);
}

float MufuSqrt(float x) {
  const uint32_t bits = BitsOf(x);
  if (IsZeroOrDenormal(bits)) return SignedZero(bits);
  if (x != x || (bits & kSign)) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(x)) return x;
  const RootOperand root = RootOf(bits & kMantissa, ExponentOf(bits));
  return Scaled(Bits24(MufuFunction::kSqrt, 64, root.period, root.mantissa),
                -23 + root.half_exponent);
}

float MufuEx2(float x) {
  const uint32_t bits = BitsOf(x);
  if (x != x) return x;
  if (x >= 128.0f) return HUGE_VALF;
  if (x <= -150.0f) return 0;
  const int shift = ExponentOf(bits);  // 23 bits below the point
  const int64_t whole = IsZeroOrDenormal(bits) ? 0 : (bits & kMantissa) | (kMantissa + 1);
  int64_t fixed = shift >= 0 ? whole << shift : shift <= -25 ? 0 : whole >> -shift;
  if (bits & kSign) fixed = fixed & kMantissa ? ~fixed : -fixed;
  return Scaled(Bits24(MufuFunction::kEx2, 64, 0, static_cast<uint32_t>(fixed) & kMantissa),
                static_cast<int>(fixed >> 23) - 23);
}

float MufuLg2(float x) {
  const uint32_t bits = BitsOf(x);
  if (IsZeroOrDenormal(bits)) return -HUGE_VALF;
  if (x != x || (bits & kSign)) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(x)) return x;
  const uint32_t mantissa = bits & kMantissa;
  const int64_t exponent = ExponentOf(bits);
  int64_t value = exponent * (int64_t{1} << (24 + kLogBits));
  if (x != 1)
    value += Quadratic(MufuFunction::kLg2, mantissa >> kPlaceBits,
                       mantissa & static_cast<uint32_t>(kPlaces - 1)) >>
             (kPlaceBits - kLogBits);
  return Cut(value < 0 ? ~value : value, value < 0, -24 - kLogBits);
}

float MufuSin(float turns) { return SineOfTurns(turns, 0); }
float MufuCos(float turns) { return SineOfTurns(std::fabs(turns), 1); }

namespace {

// The upper half of the f64 bits24 * 2^exponent, cut.
uint32_t UpperHalf(int64_t bits24, int exponent, uint32_t sign) {
  const double value = std::ldexp(static_cast<double>(bits24), exponent);
  if (value < std::numeric_limits<double>::min()) return sign;
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(value) >> 32) | sign;
}
constexpr uint32_t kNan64 = 0x7fffffffu, kInfinity64 = 0x7ff00000u;

}  // namespace

uint32_t MufuRcp64(uint32_t upper) {
  const uint32_t sign = upper & kSign, size = upper & ~kSign;
  if (size > kInfinity64) return kNan64;
  if (size == kInfinity64) return sign;
  if (size < 0x100000) return sign | kInfinity64;
  const int exponent = static_cast<int>(size >> 20) - 1023;
  return UpperHalf(Bits24(MufuFunction::kRcp, 128, 0, (size & 0xfffff) << 3), -24 - exponent, sign);
}

uint32_t MufuRsqrt64(uint32_t upper) {
  const uint32_t sign = upper & kSign, size = upper & ~kSign;
  if (size < 0x100000) return sign | kInfinity64;
  if (size > kInfinity64 || sign) return kNan64;
  if (size == kInfinity64) return 0;
  const RootOperand root = RootOf((size & 0xfffff) << 3, static_cast<int>(size >> 20) - 1023);
  return UpperHalf(RsqrtBits(root), -24 - root.half_exponent, 0);
}

template <bool kFlush>
float Approximations<kFlush>::Rcp(float x) {
  const float size = std::fabs(x);
  if (kFlush || size == 0) return MufuRcp(x);
  if (size > 0x1p126f) return MufuRcp(x * 0.25f) * 0.25f;
  if (size < 0x1p-126f) return MufuRcp(x * 0x1p24f) * 0x1p24f;
  return MufuRcp(x);
}
template <bool kFlush>
float Approximations<kFlush>::Rsqrt(float x) {
  if (!kFlush && std::fabs(x) < 0x1p-126f) return MufuRsqrt(x * 0x1p24f) * 0x1p12f;
  return MufuRsqrt(x);
}
template <bool kFlush>
float Approximations<kFlush>::Sqrt(float x) {
  if (!kFlush && std::fabs(x) < 0x1p-126f) return MufuSqrt(x * 0x1p24f) * 0x1p-12f;
  return MufuSqrt(x);
}
template <bool kFlush>
float Approximations<kFlush>::Ex2(float x) {
  if (kFlush || !(x < -126.0f)) return MufuEx2(x);
  const float root = MufuEx2(x * 0.5f);
  return root * root;
}
template <bool kFlush>
float Approximations<kFlush>::Lg2(float x) {
  if (!kFlush && std::fabs(x) < 0x1p-126f) return MufuLg2(x * 0x1p24f) - 24.0f;
  return MufuLg2(x);
}
template <bool kFlush>
float Approximations<kFlush>::Sin(float x) {
  return MufuSin(TurnsOf(x, kFlush));
}
template <bool kFlush>
float Approximations<kFlush>::Cos(float x) {
  return MufuCos(TurnsOf(x, kFlush));
}

template struct Approximations<false>;
template struct Approximations<true>;

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
