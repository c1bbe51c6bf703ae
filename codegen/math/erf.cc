// The error function: x + x P(x^2) near 0; further out 1 - e^-Q(x), where Q is a polynomial for
// -log(1 - erf x), which is smooth up to where erf rounds to 1 (3.95 for float, 5.93 for double).
#include "codegen/math/internal.h"

namespace hlokit {
namespace {

// erf(x) / x - 1 for z = x^2, |x| <= 7/8 (float) or 1 (double).
Val SmallTail(Val z) {
  if (z.is_f64()) {
    return Horner(z, {0x1.6853df8fd134ap-33, -0x1.e4aea7caa61bep-30, 0x1.18188662f8d42p-26,
                      -0x1.64724e84cfc53p-23, 0x1.ba8234fac2e9ap-20, -0x1.f4dec4ec0f3a1p-17,
                      0x1.f9a3cfa0029d9p-14, -0x1.c02db9e22ae9cp-11, 0x1.565bcd2fabe05p-8,
                      -0x1.b82ce31366603p-6, 0x1.ce2f21a045b90p-4, -0x1.812746b037a27p-2,
                      0x1.06eba8214db69p-3});
  }
  return Horner(z, {-0x1.4222bep-11, 0x1.49240ep-8, -0x1.b6d99ep-6, 0x1.ce1f1ep-4, -0x1.8126f8p-2,
                    0x1.06eba6p-3});
}

// -log(1 - erf(y)) for larger y, up to where erf rounds to 1.
Val NegativeLogErfc(Val y) {
  if (y.is_f64()) {
    return Horner(AtMost(y, 5.93) - 1.25,
                  {0x1.f92c9a09cdb67p-39, -0x1.58738f2679f28p-34, 0x1.9853e0d572732p-31,
                   -0x1.0998e88a18b33p-28, 0x1.53be8c67d6c98p-27, 0x1.b56c003a433ebp-27,
                   -0x1.173f5adf700f5p-22, 0x1.8545c42d8a303p-20, -0x1.5ac22aa5e44b6p-18,
                   0x1.6b683b43882a5p-17, 0x1.50f359ea9231dp-17, -0x1.02c592dffeddbp-12,
                   0x1.a540a711add87p-10, -0x1.fea76c4a3afbap-8, 0x1.0bc5a02983de2p-5,
                   0x1.bddad46f504a8p-1, 0x1.88ab2d9950134p+1, 0x1.48050902770fdp+1});
  }
  Val bounded = AtMost(y, 3.95);
  return bounded * Horner(bounded, {-0x1.c35e76p-13, 0x1.a6ba32p-9, -0x1.778fc2p-6, 0x1.af5bd4p-4,
                                    0x1.4577e6p-1, 0x1.20e70cp+0});
}

}  // namespace

Val Erf(Val x) {
  Val y = Abs(x);
  Val z = y * y;
  Val small = Fma(y, SmallTail(z), y);
  Val large = 1 - ExpInRange(-NegativeLogErfc(y));
  return CopySign(Select(y > (x.is_f64() ? 1 : 0.875), large, small), x);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
