// The functions that a GPU approximates by table, with the bits of an H200.
//
// Its unit cuts a function's range into segments (128 or 64 by the upper bits of the mantissa) and
// evaluates a quadratic in the x lower bits: constant + slope * x + curvature * s(x). s is x * x
// without the partial products of its lower 19 columns. The sum is cut off, to 24 bits or, for
// logarithms, to 36 below the point first. mufu.def has the coefficients: they are the
// only ones (with these few bits each) that give the H200's results for all 2^23 or 2^24 mantissas
// of a period.
//
//   rcp(33): 0x3cf83e0f, where 1/33 rounds to 0x3cf83e10.
//
// Denormal operands are zeros, denormal results become zeros; wrappers for instructions without
// .ftz scale as ptxas does. Cost: a look-up in a table of squares (256 KB, made once) and a few
// multiplications.
#pragma once

#include <cstdint>

namespace hlokit::ptx {

float MufuRcp(float x);
float MufuRsqrt(float x);
float MufuSqrt(float x);
float MufuEx2(float x);
float MufuLg2(float x);
// Of revolutions: x is an angle times 0.15915494, rounded towards zero.
float MufuSin(float turns);
float MufuCos(float turns);

// On the upper halves of f64s, the lower one of the result is 0.
uint32_t MufuRcp64(uint32_t upper);
uint32_t MufuRsqrt64(uint32_t upper);

// The instructions of PTX, without .ftz and with it.
template <bool kFlush>
struct Approximations {
  static float Rcp(float x);
  static float Rsqrt(float x);
  static float Sqrt(float x);
  static float Ex2(float x);
  static float Lg2(float x);
  static float Sin(float x);
  static float Cos(float x);
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
