// Interval arithmetic with errors.
#include "generator/bounds.h"

#include <algorithm>
#include <cmath>

#include "types/float_convert.h"

namespace hlokit {

double Bounds::Most() const { return std::max(std::fabs(low), std::fabs(high)); }

double EpsilonOf(ElementType type) {
  if (!IsFloat(RealComponent(type))) return 0;
  return std::ldexp(1.0, -FormatOf(RealComponent(type)).mantissa_bits);
}

double SmallestStep(ElementType type) {
  if (!IsFloat(RealComponent(type))) return 0;
  const FloatFormat& format = FormatOf(RealComponent(type));
  return std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
}

double MostUseful(ElementType type) {
  switch (BitWidth(RealComponent(type))) {
    case 4:
      return 4;
    case 8:
      return type == ElementType::kF8E3M4 ? 8 : type == ElementType::kF8E4M3B11FNUZ ? 16 : 64;
    case 16:
      return 1e3;
    default:
      return 1e5;
  }
}

bool IsUseful(ElementType type, const Bounds& bounds) {
  constexpr double kMaxError = 0.05;
  return bounds.error <= kMaxError * std::max(bounds.Most(), 4 * SmallestStep(type));
}

double RoundingError(ElementType type, double most) {
  return kUlps * (EpsilonOf(type) * most + SmallestStep(type));
}

Bounds AddBounds(ElementType type, const Bounds& a, const Bounds& b) {
  Bounds sum{a.low + b.low, a.high + b.high, a.error + b.error};
  sum.error += RoundingError(type, sum.Most());
  return sum;
}

Bounds MultiplyBounds(ElementType type, const Bounds& a, const Bounds& b) {
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  Bounds product{low, high, a.Most() * b.error + b.Most() * a.error + a.error * b.error};
  if (IsComplex(type)) {  // a sum of two products
    const double most = 2 * a.Most() * b.Most();
    product = {-most, most, 2 * product.error};
  }
  product.error += RoundingError(type, product.Most());
  return product;
}

Bounds DivideBounds(ElementType type, const Bounds& a, const Bounds& b) {
  const double least = std::min(std::fabs(b.low), std::fabs(b.high)) - b.error;
  const auto [low, high] =
      std::minmax({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
  Bounds quotient{low, high, a.error / least + a.Most() * b.error / (least * least)};
  quotient.error += RoundingError(type, quotient.Most());
  return quotient;
}

Bounds SumBounds(ElementType type, const Bounds& a, const Bounds& b, int64_t count) {
  const Bounds term = MultiplyBounds(type, a, b);
  const auto n = static_cast<double>(count);
  Bounds sum{std::min(0.0, n * term.low), std::max(0.0, n * term.high), n * term.error};
  sum.error += n * RoundingError(type, sum.Most());
  return sum;
}

Bounds SmoothBounds(ElementType type, double (*function)(double), const Bounds& a) {
  constexpr int kSamples = 64;
  const double step = (a.high - a.low) / kSamples;
  Bounds result{function(a.low), function(a.low), 0};
  double slope = 0, before = result.low;
  for (int i = 1; i <= kSamples; ++i) {
    const double value = function(a.low + i * step);
    if (step > 0) slope = std::max(slope, std::fabs(value - before) / step);
    result.low = std::min(result.low, value);
    result.high = std::max(result.high, value);
    before = value;
  }
  result.low -= slope * step;
  result.high += slope * step;
  result.error = 2 * slope * a.error + RoundingError(type, result.Most());
  return result;
}

Bounds Join(const Bounds& a, const Bounds& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.error, b.error)};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
