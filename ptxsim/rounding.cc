// Conversions between double and the small formats (f16, bf16, tf32, f8, f6, f4), described by
// exponent bits, mantissa bits and bias. A value is scaled so that one unit is the format's last
// place, rounded to an integer by the mode, and scaled back; a carry of the mantissa increments the
// exponent by itself.
#include "ptxsim/rounding.h"

namespace hlokit::ptx {
namespace {

// Whether a magnitude with `rest` beyond its last bit (in units of that bit) goes up.
bool RoundsUp(double rest, bool is_odd, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest:
      return rest > 0.5 || (rest == 0.5 && is_odd);
    case Rounding::kNearestAway:
      return rest >= 0.5;
    case Rounding::kDown:
      return negative && rest > 0;
    case Rounding::kUp:
      return !negative && rest > 0;
    case Rounding::kZero:
      break;
  }
  return false;
}

// Whether the mode rounds what is too large to the largest finite value rather than to infinity.
bool OverflowsToMax(bool negative, Rounding rounding) {
  return rounding == Rounding::kZero || (rounding == Rounding::kDown && !negative) ||
         (rounding == Rounding::kUp && negative);
}

}  // namespace

namespace {

// `goes_up(rest, is_odd)` rounds the magnitude; `to_max`: what is too large becomes the largest
// finite value.
template <typename F>
uint32_t RoundBy(double value, const Format& format, bool to_max, bool saturate, F goes_up) {
  const uint32_t sign_bit = uint32_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint32_t sign = std::signbit(value) ? sign_bit : 0;
  if (std::isnan(value)) return format.nan;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return sign | (saturate ? format.max_bits : format.infinity);
  const int least = 1 - format.bias;
  const int exponent = std::max(std::ilogb(magnitude), least);
  const double scaled = std::ldexp(magnitude, format.mantissa_bits - exponent);
  const double whole = std::floor(scaled);
  auto units = static_cast<uint64_t>(whole);
  units += goes_up(scaled - whole, units & 1);
  uint64_t bits = units;  // a subnormal, or its carry
  if (exponent > least || units >> format.mantissa_bits)
    bits = (static_cast<uint64_t>(exponent - least) << format.mantissa_bits) + units;
  if (bits > format.max_bits) bits = saturate || to_max ? format.max_bits : format.infinity;
  return sign | static_cast<uint32_t>(bits);
}

}  // namespace

uint32_t RoundToFormat(double value, const Format& format, Rounding rounding, bool saturate) {
  const bool negative = std::signbit(value);
  return RoundBy(
      value, format, OverflowsToMax(negative, rounding), saturate,
      [&](double rest, bool is_odd) { return RoundsUp(rest, is_odd, negative, rounding); });
}

uint32_t RoundRandomly(double value, const Format& format, uint32_t random, int random_bits,
                       bool saturate) {
  return RoundBy(value, format, /*to_max=*/false, saturate, [&](double rest, bool) {
    const double cut = std::floor(std::ldexp(rest, random_bits));  // as many bits as are random
    return cut + random >= std::ldexp(1.0, random_bits);
  });
}

double ValueOfFormat(uint32_t bits, const Format& format) {
  const uint32_t sign_bit = uint32_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint32_t magnitude = bits & (sign_bit - 1);
  const double sign = bits & sign_bit ? -1 : 1;
  if (magnitude > format.max_bits) {
    if (format.infinity != format.nan && magnitude == format.infinity) return sign * HUGE_VAL;
    return std::copysign(NAN, sign);
  }
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << format.mantissa_bits),
                           exponent - format.bias - format.mantissa_bits);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
