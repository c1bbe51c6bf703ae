// Weights of corners and sums of texels.
#include "ptxsim/texture_filter.h"

#include <algorithm>
#include <cmath>

namespace hlokit::ptx {
namespace {

constexpr int kWhole = 256;

int RoundedPart(int a, int b) { return (a * b + kWhole / 2) / kWhole; }

double HalfUp(double value) { return std::floor(value + 0.5); }

// Ties away from zero, to a multiple of 2^exponent.
double Rounded(double value, int exponent) {
  return std::ldexp(std::round(std::ldexp(value, -exponent)), exponent);
}

int ExponentOf(double value) { return value == 0 ? -1100 : std::ilogb(value); }

// `bits` of a result, `kept` of a texel; results are not finer than 2^least.
float SumOfFloats(const float* values, const int* weights, int corners, int bits, int kept,
                  int least) {
  int top = -1100;
  double plain = 0;
  for (int i = 0; i < corners; ++i) {
    if (weights[i] == 0) continue;
    plain += double{values[i]} * weights[i];
    if (std::isfinite(values[i])) top = std::max(top, ExponentOf(values[i]));
  }
  if (!std::isfinite(plain) || top == -1100) return static_cast<float>(plain);
  double sum = 0;
  for (int i = 0; i < corners; ++i) {
    if (weights[i] == 0) continue;
    const int unit = top - kept + 1;
    sum += std::ldexp(std::trunc(std::ldexp(double{values[i]}, -unit)), unit) * weights[i];
  }
  sum /= kWhole;
  return static_cast<float>(Rounded(sum, std::max(ExponentOf(sum) - bits + 1, least)));
}

// Values of a format whose greatest is `most`, as numbers up to `wide`.
float SumOfIntegers(const float* values, const int* weights, int corners, double most,
                    double wide) {
  double sum = 0;
  for (int i = 0; i < corners; ++i)
    sum += std::nearbyint(double{values[i]} * most) * (wide / most) * weights[i];
  return static_cast<float>(std::max(HalfUp(sum / kWhole) / wide, -1.0));
}

}  // namespace

void CornerWeights(const int* seconds, int dims, int* weights) {
  const int x = seconds[0];
  weights[0] = kWhole - x;
  weights[1] = x;
  if (dims == 1) return;
  const int y = seconds[1], xy = RoundedPart(x, y);
  weights[3] = xy;
  weights[2] = y - xy;
  weights[1] = x - xy;
  weights[0] = kWhole - x - y + xy;
  if (dims == 2) return;
  const int z = seconds[2], yz = RoundedPart(y, z), xz = RoundedPart(x, z);
  const int xyz = RoundedPart(x, yz);
  weights[7] = xyz;
  weights[6] = yz - xyz;
  weights[5] = xz - xyz;
  weights[4] = z - xz - yz + xyz;
  for (int i = 0; i < 4; ++i) weights[i] -= weights[i + 4];
}

float FilterChannel(FilterOf texels, const float* values, const int* weights, int corners) {
  constexpr double kUnsigned = 65535, kSigned = 32767;
  constexpr int kLeastF32 = -149, kLeastF16 = -24;
  switch (texels) {
    case FilterOf::kU8:
      return SumOfIntegers(values, weights, corners, 255, kUnsigned);
    case FilterOf::kU16:
      return SumOfIntegers(values, weights, corners, kUnsigned, kUnsigned);
    case FilterOf::kS8:
      return SumOfIntegers(values, weights, corners, 127, kSigned);
    case FilterOf::kS16:
      return SumOfIntegers(values, weights, corners, kSigned, kSigned);
    case FilterOf::kHalf:
      return SumOfFloats(values, weights, corners, 11, 15, kLeastF16);
    default:
      return SumOfFloats(values, weights, corners, 24, 28, kLeastF32);
  }
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
