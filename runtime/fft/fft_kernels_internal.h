// Butterflies of all radices, over vectors of interleaved lines; the including file defines
// HLOKIT_ISA and HLOKIT_VECTOR_BYTES.
//
// One pass of radix r reads r values that are groups * stride elements apart, computes their
// discrete transform in registers, multiplies by twiddles and writes them stride elements apart.
// Radices 2, 3, 4, 5 and 8 are written out; 7, 11 and 13 take r^2 multiplications by the
// definition. Only data() of std::vector is used: other members are inline functions that the
// linker could take from here, compiled with instructions that a lesser machine lacks.
#pragma once

#include "runtime/fft/fft_internal.h"
#include "runtime/fft/fft_lines_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

// Of numbers or of vectors of them.
template <typename V>
struct Complex {
  V re, im;
};
template <typename V>
HLOKIT_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename V>
HLOKIT_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T, typename V>
HLOKIT_INLINE Complex<V> operator*(T a, Complex<V> b) {
  return {a * b.re, a * b.im};
}
template <typename V, typename T>
HLOKIT_INLINE Complex<V> operator*(Complex<V> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename V>
HLOKIT_INLINE Complex<V> TimesMinusI(Complex<V> a) {
  return {a.im, -a.re};
}

// The discrete transform of kRadix values, in place.
template <int kRadix, typename T, typename V>
HLOKIT_INLINE void Butterfly(Complex<V>* x) {
  if constexpr (kRadix == 2) {
    const Complex<V> a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  } else if constexpr (kRadix == 3) {
    const T sine = static_cast<T>(0.866025403784438646763723170752936183L);
    const Complex<V> sum = x[1] + x[2], rotated = TimesMinusI(sine * (x[1] - x[2]));
    const Complex<V> middle = x[0] - T(0.5) * sum;
    x[0] = x[0] + sum;
    x[1] = middle + rotated;
    x[2] = middle - rotated;
  } else if constexpr (kRadix == 4) {
    const Complex<V> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3],
                     d = TimesMinusI(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  } else if constexpr (kRadix == 8) {
    const T half = static_cast<T>(0.707106781186547524400844362104849039L);
    Complex<V> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    Butterfly<4, T>(even);
    Butterfly<4, T>(odd);
    odd[1] = half * Complex<V>{odd[1].re + odd[1].im, odd[1].im - odd[1].re};
    odd[2] = TimesMinusI(odd[2]);
    odd[3] = half * Complex<V>{odd[3].im - odd[3].re, -odd[3].re - odd[3].im};
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  } else {
    static_assert(kRadix == 5);
    const T c1 = static_cast<T>(0.309016994374947424102293417182819059L);
    const T c2 = static_cast<T>(-0.809016994374947424102293417182819059L);
    const T s1 = static_cast<T>(0.951056516295153572116439333379382143L);
    const T s2 = static_cast<T>(0.587785252292473129168705954639072769L);
    const Complex<V> a = x[1] + x[4], b = x[2] + x[3], c = x[1] - x[4], d = x[2] - x[3];
    const Complex<V> first = x[0] + c1 * a + c2 * b, second = x[0] + c2 * a + c1 * b;
    const Complex<V> e = TimesMinusI(s1 * c + s2 * d), f = TimesMinusI(s2 * c - s1 * d);
    x[0] = x[0] + a + b;
    x[1] = first + e;
    x[4] = first - e;
    x[2] = second + f;
    x[3] = second - f;
  }
}

// One butterfly for each of kLanes lines. kTwiddles: the results are multiplied by twiddles.
template <int kRadix, bool kTwiddles, int kLanes, typename T>
HLOKIT_INLINE void ButterflyLanes(const T* re, const T* im, int64_t step, T* to_re, T* to_im,
                                  int64_t stride, const Complex<T>* twiddle) {
  using V = typename Lanes<T, kLanes>::Type;
  Complex<V> x[kRadix];
#pragma GCC unroll 8
  for (int k = 0; k < kRadix; ++k)
    x[k] = {LoadLanes<kLanes>(re + k * step), LoadLanes<kLanes>(im + k * step)};
  Butterfly<kRadix, T>(x);
#pragma GCC unroll 8
  for (int k = 0; k < kRadix; ++k) {
    const Complex<V> y = kTwiddles && k > 0 ? x[k] * twiddle[k] : x[k];
    StoreLanes<kLanes>(to_re + k * stride, y.re);
    StoreLanes<kLanes>(to_im + k * stride, y.im);
  }
}

template <int kRadix, bool kTwiddles, typename T>
HLOKIT_INLINE void ButterflyGroups(const FftPass<T>& pass, int64_t stride, const T* __restrict re,
                                   const T* __restrict im, T* __restrict to_re,
                                   T* __restrict to_im) {
  constexpr int kLanes = kMaxLanes<T>;
  const int64_t step = pass.groups * stride;
  for (int64_t p = 0; p < pass.groups; ++p) {
    Complex<T> twiddle[kRadix];
    for (int k = 0; k < kRadix; ++k)
      twiddle[k] = {pass.cosine.data()[p * kRadix + k], pass.sine.data()[p * kRadix + k]};
    const int64_t from = p * stride, to = p * kRadix * stride;
    int64_t q = 0;
    for (; q + kLanes <= stride; q += kLanes)
      ButterflyLanes<kRadix, kTwiddles, kLanes>(re + from + q, im + from + q, step, to_re + to + q,
                                                to_im + to + q, stride, twiddle);
    for (; q + kLanes / 2 <= stride; q += kLanes / 2)
      ButterflyLanes<kRadix, kTwiddles, kLanes / 2>(
          re + from + q, im + from + q, step, to_re + to + q, to_im + to + q, stride, twiddle);
    for (; q < stride; ++q)
      ButterflyLanes<kRadix, kTwiddles, 1>(re + from + q, im + from + q, step, to_re + to + q,
                                           to_im + to + q, stride, twiddle);
  }
}

template <int kRadix, typename T>
void RadixPass(const FftPass<T>& pass, int64_t stride, const T* re, const T* im, T* to_re,
               T* to_im) {
  (pass.groups > 1 ? ButterflyGroups<kRadix, true, T>
                   : ButterflyGroups<kRadix, false, T>)(pass, stride, re, im, to_re, to_im);
}

// Any radix, by the definition.
template <typename T>
void AnyPass(const FftPass<T>& pass, int64_t stride, const T* __restrict re, const T* __restrict im,
             T* __restrict to_re, T* __restrict to_im) {
  const int64_t step = pass.groups * stride, radix = pass.radix;
  for (int64_t p = 0; p < pass.groups; ++p) {
    for (int64_t k = 0; k < radix; ++k) {
      T* out_re = to_re + (p * radix + k) * stride;
      T* out_im = to_im + (p * radix + k) * stride;
      const Complex<T> twiddle = {pass.cosine.data()[p * radix + k],
                                  pass.sine.data()[p * radix + k]};
      for (int64_t q = 0; q < stride; ++q) {
        Complex<T> sum = {re[p * stride + q], im[p * stride + q]};
        for (int64_t j = 1, turn = k; j < radix; ++j, turn += turn + k >= radix ? k - radix : k) {
          const Complex<T> root = {pass.root_cosine.data()[turn], pass.root_sine.data()[turn]};
          sum =
              sum + root * Complex<T>{re[p * stride + q + j * step], im[p * stride + q + j * step]};
        }
        sum = sum * twiddle;
        out_re[q] = sum.re;
        out_im[q] = sum.im;
      }
    }
  }
}

template <typename T>
void Pass(const FftPass<T>& pass, int64_t stride, const T* re, const T* im, T* to_re, T* to_im) {
  switch (pass.radix) {
    case 2:
      return RadixPass<2>(pass, stride, re, im, to_re, to_im);
    case 3:
      return RadixPass<3>(pass, stride, re, im, to_re, to_im);
    case 4:
      return RadixPass<4>(pass, stride, re, im, to_re, to_im);
    case 5:
      return RadixPass<5>(pass, stride, re, im, to_re, to_im);
    case 8:
      return RadixPass<8>(pass, stride, re, im, to_re, to_im);
    default:
      return AnyPass(pass, stride, re, im, to_re, to_im);
  }
}

}  // namespace

template <typename T>
constexpr FftKernels<T> kOf = {&Pass<T>,       &TakeLines<T>, &GiveLines<T>, &TakeAcross<T>,
                               &GiveAcross<T>, &Untangle<T>,  &Tangle<T>};

constexpr FftIsa kFft = {kOf<float>, kOf<double>};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
