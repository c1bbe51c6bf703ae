// What the generator knows of a float value without running it: a range, and how far two right
// executions may be apart.
#pragma once

#include "types/element_type.h"

namespace hlokit {

// Of a float array: low <= x <= high for each element. Of a complex one: the same for both parts.
// Integers and pred have no use for it.
struct Bounds {
  double low = 0, high = 0;
  // How far an execution that keeps to the accuracy below may be from exact arithmetic. 0: every
  // execution gives the same value, bit for bit, so that comparisons and roundings may look at it.
  double error = 0;

  double Most() const;  // the largest |x|
  bool Exact() const { return error == 0; }
};

// Distance between 1 and the next number of a float type (of a complex type's parts); one step of
// its subnormals. 0 for other types.
double EpsilonOf(ElementType type);
double SmallestStep(ElementType type);
// Values beyond this are clamped before they are used again: far from overflow.
double MostUseful(ElementType type);

// False where the error is so large that a comparison would mean nothing.
bool IsUseful(ElementType type, const Bounds& bounds);

// The error that rounding a value of magnitude `most` may bring: kUlps units in the last place. The
// executions promise 2 ulp for functions and one rounding for arithmetic; what is more than that
// allows for arithmetic in a wider type that is rounded later or not at all.
inline constexpr double kUlps = 4;
double RoundingError(ElementType type, double most);

// Results of arithmetic on `type`, errors included. Divide: `b` keeps away from 0.
Bounds AddBounds(ElementType type, const Bounds& a, const Bounds& b);
Bounds MultiplyBounds(ElementType type, const Bounds& a, const Bounds& b);
Bounds DivideBounds(ElementType type, const Bounds& a, const Bounds& b);
// A sum of `count` products (or of `count` values, where b is 1), in any order.
Bounds SumBounds(ElementType type, const Bounds& a, const Bounds& b, int64_t count);
// A function that is smooth between a.low and a.high, by samples.
Bounds SmoothBounds(ElementType type, double (*function)(double), const Bounds& a);
// Either of two values.
Bounds Join(const Bounds& a, const Bounds& b);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
