// Elementary functions on complex values whose parts are doubles; c64 is widened first, so that
// squares and sums neither overflow nor cancel.
#pragma once

#include "codegen/math/value.h"

namespace hlokit {

struct ComplexVal {
  Val re;
  Val im;
};

ComplexVal operator+(ComplexVal a, ComplexVal b);
ComplexVal operator-(ComplexVal a, ComplexVal b);
ComplexVal operator*(ComplexVal a, ComplexVal b);
ComplexVal operator/(ComplexVal a, ComplexVal b);  // infinities and zeros as C's Annex G
ComplexVal operator-(ComplexVal a);

ComplexVal ComplexSign(ComplexVal z);  // z / |z|, 0 for 0; its parts may be floats
ComplexVal ComplexExp(ComplexVal z);
ComplexVal ComplexExpm1(ComplexVal z);
ComplexVal ComplexLogistic(ComplexVal z);
ComplexVal ComplexLog(ComplexVal z);
ComplexVal ComplexLog1p(ComplexVal z);
ComplexVal ComplexSqrt(ComplexVal z);
ComplexVal ComplexRsqrt(ComplexVal z);
ComplexVal ComplexSin(ComplexVal z);
ComplexVal ComplexCos(ComplexVal z);
ComplexVal ComplexTan(ComplexVal z);
ComplexVal ComplexSinh(ComplexVal z);
ComplexVal ComplexCosh(ComplexVal z);
ComplexVal ComplexTanh(ComplexVal z);
ComplexVal ComplexAsin(ComplexVal z);
ComplexVal ComplexAcos(ComplexVal z);
ComplexVal ComplexAtan(ComplexVal z);
ComplexVal ComplexAsinh(ComplexVal z);
ComplexVal ComplexAcosh(ComplexVal z);
ComplexVal ComplexAtanh(ComplexVal z);
ComplexVal ComplexPow(ComplexVal base, ComplexVal exponent);
// The angle of x + iy: -i log((x + iy) / sqrt(x^2 + y^2)).
ComplexVal ComplexAtan2(ComplexVal y, ComplexVal x);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
