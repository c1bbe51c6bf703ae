// Elementary functions on float and double values (scalars or vectors), as branch-free IR that LLVM
// vectorises. Each is within 2 ulp of the correctly rounded result for every input: subnormals are
// kept, overflow gives inf, NaN stays NaN, signed zeros follow C's libm. No call leaves the module.
#pragma once

#include "codegen/math/value.h"

namespace hlokit {

Val Exp(Val x);
Val ExpOfNegative(Val x);  // the same bits for x up to 0, in fewer steps
Val Expm1(Val x);
Val Logistic(Val x);  // 1 / (1 + e^-x)
// Of floats that are bf16 values, with half the steps: rounded to bf16 they are the exact results,
// rounded to float and to bf16, for every one of them.
Val LogisticOfBF16(Val x);
Val TanhOfBF16(Val x);
Val Sinh(Val x);
Val Cosh(Val x);
Val Tanh(Val x);

Val Log(Val x);
Val Log1p(Val x);
Val Asinh(Val x);
Val Acosh(Val x);
Val Atanh(Val x);

Val Sin(Val x);
Val Cos(Val x);
Val Tan(Val x);
// Of floats (not doubles) below kTrigBound in absolute value, with half the latency.
inline constexpr double kTrigBound = 120;
Val BoundedSin(Val x);
Val BoundedCos(Val x);

Val Asin(Val x);
Val Acos(Val x);
Val Atan(Val x);
Val Atan2(Val y, Val x);

Val Rsqrt(Val x);
Val Cbrt(Val x);
Val Pow(Val x, Val y);
// As C's fmod.
Val Remainder(Val x, Val y);
Val Erf(Val x);
// sqrt(x^2 + y^2) without overflow or underflow on the way.
Val Hypot(Val x, Val y);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
