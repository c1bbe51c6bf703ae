// exp, log, log1p and sqrt of complex numbers by real arithmetic, the formulas of XLA's conversion.
//
// Idea: each function is written in the absolute values of the parts so that no square overflows,
// and where two terms cancel the rounding errors of the sum are added again. For
//   log(x + iy) = log(x^2 + y^2) / 2 + i atan2(y, x)
// with |x + iy| near 1 the real part is log1p(x^2 + y^2 - 1) / 2, of which x^2, y^2 and the sums
// are exact to twice the digits: 0.6 + 0.8i gives 2e-8 in f32, what its rounded parts say, where
// the plain formula gives 0.
// Cost: 20 (exp) to 130 (log1p) instructions an element, which the target fuses into one loop.
// Source of the formulas: the definitions in functional_algorithms, as XLA's conversion has them.
#include <cmath>
#include <limits>

#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

constexpr double kSqrt2 = 1.41421356237309504880;

// From where on the square of a number plus 1 has lost the 1 by far: a hundredth of the square root
// of the largest number, rounded as the type has it.
double HugeFrom(ElementType type) {
  if (type == ElementType::kF64) return std::sqrt(std::numeric_limits<double>::max()) * 0.01;
  return std::sqrt(std::numeric_limits<float>::max()) * 0.01f;
}

// The error of x * x, which was rounded to `square`.
Formula SquareError(Formula x, Formula square) {
  const Formula negated = -square;
  const Formula high = UpperHalf(x);
  const Formula upper = negated + high * high;
  const Formula low = x - high;
  const Formula mixed = high * low;
  return upper + mixed + mixed + low * low;
}

// log(a^2 + b^2) / 2 from the larger and the smaller of |a| and |b|, given (smaller / larger)^2.
Formula LogOfSize(Formula larger, Formula ratio_squared) {
  const Formula log = Log(larger);
  return log + Log1p(ratio_squared) * 0.5;
}

// log(re^2 + im^2) / 2 where that is near 0: the sum less 1 with its errors.
Formula LogNearOne(Formula re, Formula im, Formula& sum) {
  const Formula im_square = im * im, re_square = re * re;
  const Formula im_larger = im_square > re_square;
  const Formula larger = im_larger.Select(im_square, re_square);
  const Formula smaller = im_larger.Select(re_square, im_square);
  const Formula first = larger + -1.0;
  const Formula second = first + smaller;
  const Formula im_error = SquareError(im, im_square);
  const Formula third = second + im_error;
  const Formula re_error = SquareError(re, re_square);
  const Formula fourth = third + re_error;
  // The terms grow smaller: of a sum of a and b, |a| >= |b|, the error is b - (sum - a).
  const Formula errors = (larger - (first - -1.0)) + (smaller - (second - first)) +
                         (im_error - (third - second)) + (re_error - (fourth - third));
  sum = fourth + errors;
  return Log1p(sum) * 0.5;
}

// log((1 + re)^2 + im^2) / 2 as log1p(2 re + im^2 + re^2) / 2, the sum with its errors.
Formula LogPlusOneOfParts(Formula re, Formula im, Formula re_square_of_sum, Formula size) {
  const Formula im_square = im * im;
  const Formula plain = Log(re_square_of_sum + im_square) * 0.5;
  const Formula twice = re + re;
  const Formula first = twice + im_square;
  const Formula re_square = re * re;
  const Formula second = first + re_square;
  const Formula im_error = SquareError(im, im_square);
  const Formula third = second + im_error;
  const Formula re_error = SquareError(re, re_square);
  const Formula fourth = third + re_error;
  const Formula errors = SumError(twice, im_square, first) + SumError(first, re_square, second) +
                         SumError(second, im_error, third) + SumError(third, re_error, fourth);
  const Formula exact = Log1p(fourth + errors) * 0.5;
  return (size < 0.2).Select(plain, exact);
}

// What real and imaginary part of a square root are made of, |re| and |im|, where both are the same
// and where h = sqrt((|z| + |re|) / 2) is 0 or infinite.
struct RootParts {
  Formula along, across;
};

RootParts RootOfSizes(Formula x, Formula y) {
  const Formula equal = x == y, wider = x > y, narrower = x < y;
  const Formula root_x = Sqrt(x), root_y = Sqrt(y);
  const Formula h = Sqrt(Hypotenuse(x, y) / 2.0 + x / 2.0);
  const Formula degenerate = Or(h == 0.0, h == kInfinity);
  // The same by sqrt(larger) times a root of the ratio, which cannot overflow.
  const Formula quotient = narrower.Select(x / y, y / x);
  const Formula ratio = equal.Select(x.Number(1), quotient);
  const Formula hypotenuse = Hypotenuse(Abs(ratio), x.Number(1));
  const Formula wide = Sqrt(hypotenuse + 1.0), narrow = Sqrt(ratio + hypotenuse);
  const Formula scaled = wider.Select(root_x * (wide / kSqrt2), root_y * (narrow / kSqrt2));
  const Formula along =
      equal.Select(root_x * 1.5537739740300374 / kSqrt2, degenerate.Select(scaled, h));
  const Formula root_ratio =
      equal.Select(x.Number(1), narrower.Select(root_x / root_y, root_y / root_x));
  const Formula scaled_across =
      wider.Select(root_y * root_ratio / (wide * kSqrt2), root_y / (narrow * kSqrt2));
  const Formula across =
      equal.Select(root_y / 2.19736822693562, degenerate.Select(scaled_across, y / (h * 2.0)));
  return {along, across};
}

}  // namespace

Formula Hypotenuse(Formula a, Formula b) {
  const Formula larger = Max(a, b), smaller = Min(a, b);
  const Formula ratio = smaller / larger;
  const Formula square = ratio * ratio;
  const Formula root = Sqrt(square + 1.0);
  // Where the square is lost in 1 + square, the first term of the series is not.
  const Formula lost = And(root == 1.0, square > 0.0);
  const Formula sum = lost.Select(larger + larger * square / 2.0, larger * root);
  return (larger == smaller).Select(larger * kSqrt2, sum);
}

// exp(re) cos(im) and exp(re) sin(im); where exp(re) is too large, exp(re / 2) is taken twice, as
// the other factor may be small.
Formula ComplexExponential(Formula x) {
  const Formula re = x.RealPart();
  const Formula whole = Exp(re);
  const Formula overflows = whole == kInfinity;
  const Formula half = Exp(re * 0.5);
  const Formula im = x.ImaginaryPart();
  const auto times = [&](Formula factor) {
    return overflows.Select(half * factor * half, whole * factor);
  };
  const Formula real = times(Cosine(im));
  const Formula imaginary = (im == 0.0).Select(im.Number(0), times(Sine(im)));
  return real.ComplexWith(imaginary, x.shape());
}

Formula ComplexLog(Formula x) {
  const Formula re = x.RealPart(), im = x.ImaginaryPart();
  Formula sum = re;
  const Formula near = LogNearOne(re, im, sum);
  const Formula is_near = Abs(sum) < 0.5;
  const Formula re_size = Abs(re), im_size = Abs(im);
  const Formula larger = Max(re_size, im_size), smaller = Min(re_size, im_size);
  const Formula ratio = (smaller == larger).Select(re.Number(1), smaller / larger);
  const Formula real = is_near.Select(near, LogOfSize(larger, ratio * ratio));
  return real.ComplexWith(Atan2(im, re), x.shape());
}

Formula ComplexLogPlusOne(Formula x) {
  const Formula re = x.RealPart(), im = x.ImaginaryPart();
  const Formula re_size = Abs(re), im_size = Abs(im);
  const Formula larger = Max(re_size, im_size), smaller = Min(re_size, im_size);
  const Formula huge = larger > HugeFrom(re.shape().type);
  const Formula ratio = smaller / larger;
  const Formula squared = (smaller == larger).Select(re.Number(1), ratio * ratio);
  const Formula far = LogOfSize(larger, squared);
  const Formula next = re + 1.0;
  const Formula size = Abs(next) + im_size;
  const Formula real = huge.Select(far, LogPlusOneOfParts(re, im, next * next, size));
  return real.ComplexWith(Atan2(im, next), x.shape());
}

Formula ComplexSqrt(Formula x) {
  const Formula re = x.RealPart(), im = x.ImaginaryPart();
  const RootParts root = RootOfSizes(Abs(re), Abs(im));
  const Formula real = (re >= 0.0).Select(root.along, root.across);
  const Formula below = im < 0.0;
  const Formula left = below.Select(-root.along, root.along);
  const Formula right = below.Select(-root.across, root.across);
  return real.ComplexWith((re < 0.0).Select(left, right), x.shape());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
