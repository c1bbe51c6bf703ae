// Many quotients by one divisor: the reciprocal r is computed once, then x / d is x r plus one
// Newton step, q = x r, q + (x - q d) r. A product and two multiply-adds replace a division. The
// last bit may differ from a correctly rounded quotient.
#include "codegen/math/quotient.h"

namespace hlokit {
namespace {

// Divisors beyond these powers of two, either way, are brought back by as much.
constexpr double kFar = 0x1p64;

llvm::Value* MultiplyAdd(llvm::IRBuilderBase& b, llvm::Value* x, llvm::Value* y, llvm::Value* z) {
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, z});
}

}  // namespace

Divisor PrepareDivisor(llvm::IRBuilderBase& b, llvm::Value* divisor) {
  llvm::Type* type = divisor->getType();
  const auto number = [&](double value) { return llvm::ConstantFP::get(type, value); };
  llvm::Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, divisor);
  llvm::Value* scale =
      b.CreateSelect(b.CreateFCmpOGT(magnitude, number(kFar)), number(1 / kFar), number(1));
  scale = b.CreateSelect(b.CreateFCmpOLT(magnitude, number(1 / kFar)), number(kFar), scale);
  llvm::Value* value = b.CreateFMul(divisor, scale);
  return {value, b.CreateFDiv(number(1), value), scale};
}

llvm::Value* EmitRoughQuotient(llvm::IRBuilderBase& b, llvm::Value* x, const Divisor& divisor) {
  return b.CreateFMul(b.CreateFMul(x, divisor.scale), divisor.reciprocal);
}

llvm::Value* EmitQuotient(llvm::IRBuilderBase& b, llvm::Value* x, const Divisor& divisor) {
  x = b.CreateFMul(x, divisor.scale);
  llvm::Value* first = b.CreateFMul(x, divisor.reciprocal);
  llvm::Value* rest = MultiplyAdd(b, b.CreateFNeg(first), divisor.value, x);
  llvm::Value* second = MultiplyAdd(b, rest, divisor.reciprocal, first);
  // Where the first is infinite or zero, or the divisor infinite, there is nothing to correct.
  llvm::Value* zero = llvm::ConstantFP::get(x->getType(), 0);
  return b.CreateSelect(b.CreateFCmpONE(second, zero), second, first);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
