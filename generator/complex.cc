// Steps on complex numbers.
#include "generator/scope_internal.h"

namespace hlokit {
namespace {

ElementType ComplexType(GeneratedCode& s) {
  return s.random().Chance(0.6) ? ElementType::kC64 : ElementType::kC128;
}

// A number whose parts both lie in [0.25, 1]: no function below has a cut or a pole near.
RandomValue InSafeSquare(GeneratedCode& s, ElementType type, absl::Span<const int64_t> dims) {
  const ElementType part = RealComponent(type);
  const RandomValue real = s.GetTame(part, dims, 0.25, 1);
  const RandomValue imag = s.GetTame(part, dims, 0.25, 1);
  return {s.Make(Opcode::kComplex, {real.instruction, imag.instruction}),
          {0.25, 1, real.bounds.error + imag.bounds.error}};
}

}  // namespace

void ComplexArithmetic(GeneratedCode& s) {
  const RandomValue x = s.GetAny(ComplexType(s));
  const RandomValue y = s.Get(x.type(), x.shape().dims);
  const Opcode opcode = s.random().OneOf({Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply});
  const double most = x.bounds.Most() + y.bounds.Most();
  Bounds bounds = MultiplyBounds(x.type(), {-x.bounds.Most(), x.bounds.Most(), x.bounds.error},
                                 {-y.bounds.Most(), y.bounds.Most(), y.bounds.error});
  if (opcode != Opcode::kMultiply)
    bounds = AddBounds(x.type(), {-most, most, x.bounds.error}, {0, 0, y.bounds.error});
  s.Keep(s.Make(opcode, {x.instruction, y.instruction}), bounds);
}

void ComplexFunction(GeneratedCode& s) {
  constexpr Opcode kUnary[] = {Opcode::kAcos,
                               Opcode::kAcosh,
                               Opcode::kAsin,
                               Opcode::kAsinh,
                               Opcode::kAtanh,
                               Opcode::kCosh,
                               Opcode::kCosine,
                               Opcode::kLog,
                               Opcode::kLogPlusOne,
                               Opcode::kLogistic,
                               Opcode::kRsqrt,
                               Opcode::kSine,
                               Opcode::kSinh,
                               Opcode::kExponential,
                               Opcode::kSqrt,
                               Opcode::kTan,
                               Opcode::kTanh,
                               Opcode::kSign,
                               Opcode::kExponentialMinusOne};
  constexpr double kMax = 4, kSlope = 16;  // on the safe square, generously
  const ElementType type = ComplexType(s);
  const DimVector dims = s.AnyDims();
  const RandomValue x = InSafeSquare(s, type, dims);
  Bounds bounds{-kMax, kMax, kSlope * x.bounds.error + 4 * RoundingError(type, kMax)};
  if (s.random().Chance(0.7))
    return s.Keep(s.Make(s.random().OneOf(kUnary), {x.instruction}), bounds);
  const RandomValue y = InSafeSquare(s, type, dims);
  bounds.error += kSlope * y.bounds.error;
  s.Keep(
      s.Make(s.random().OneOf({Opcode::kDivide, Opcode::kPower}), {x.instruction, y.instruction}),
      bounds);
}

void ComplexParts(GeneratedCode& s) {
  if (s.random().Chance(0.4)) {
    const ElementType part = s.random().OneOf({ElementType::kF32, ElementType::kF64});
    const RandomValue real = s.GetAny(part);
    const RandomValue imag = s.Get(part, real.shape().dims);
    return s.Keep(s.Make(Opcode::kComplex, {real.instruction, imag.instruction}),
                  Join(real.bounds, imag.bounds));
  }
  const RandomValue x = s.GetAny(ComplexType(s));
  const Opcode opcode =
      s.random().OneOf({Opcode::kReal, Opcode::kImag, Opcode::kAbs, Opcode::kNegate});
  const double most = (opcode == Opcode::kAbs ? 1.5 : 1) * x.bounds.Most();
  Bounds bounds{-most, most, x.bounds.error};
  if (opcode == Opcode::kAbs) bounds.error = 2 * x.bounds.error + RoundingError(x.type(), most);
  s.Keep(s.Make(opcode, {x.instruction}), bounds);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
