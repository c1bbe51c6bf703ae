// The instructions behind the operators of Val. Each emits one LLVM instruction at the builder's
// position, for scalars and vectors alike; comparisons are ordered, so that NaN compares false.
#include "codegen/math/value.h"

namespace hlokit {

llvm::Type* Val::Shaped(llvm::Type* scalar) const {
  auto* vector = llvm::dyn_cast<llvm::VectorType>(type());
  return vector ? llvm::VectorType::get(scalar, vector->getElementCount()) : scalar;
}

Val operator+(Val a, Val b) {
  auto& builder = a.builder();
  return a.With(a.is_float() ? builder.CreateFAdd(a.get(), b.get())
                             : builder.CreateAdd(a.get(), b.get()));
}

Val operator-(Val a, Val b) {
  auto& builder = a.builder();
  return a.With(a.is_float() ? builder.CreateFSub(a.get(), b.get())
                             : builder.CreateSub(a.get(), b.get()));
}

Val operator*(Val a, Val b) {
  auto& builder = a.builder();
  return a.With(a.is_float() ? builder.CreateFMul(a.get(), b.get())
                             : builder.CreateMul(a.get(), b.get()));
}

Val operator/(Val a, Val b) { return a.With(a.builder().CreateFDiv(a.get(), b.get())); }

Val operator-(Val a) {
  auto& builder = a.builder();
  return a.With(a.is_float() ? builder.CreateFNeg(a.get()) : builder.CreateNeg(a.get()));
}

Val operator&(Val a, Val b) { return a.With(a.builder().CreateAnd(a.get(), b.get())); }
Val operator|(Val a, Val b) { return a.With(a.builder().CreateOr(a.get(), b.get())); }
Val operator^(Val a, Val b) { return a.With(a.builder().CreateXor(a.get(), b.get())); }
Val operator!(Val a) { return a.With(a.builder().CreateNot(a.get())); }

Val operator<(Val a, Val b) {
  auto& builder = a.builder();
  return a.With(a.is_float() ? builder.CreateFCmpOLT(a.get(), b.get())
                             : builder.CreateICmpSLT(a.get(), b.get()));
}

Val operator<=(Val a, Val b) {
  auto& builder = a.builder();
  return a.With(a.is_float() ? builder.CreateFCmpOLE(a.get(), b.get())
                             : builder.CreateICmpSLE(a.get(), b.get()));
}

Val operator==(Val a, Val b) {
  auto& builder = a.builder();
  return a.With(a.is_float() ? builder.CreateFCmpOEQ(a.get(), b.get())
                             : builder.CreateICmpEQ(a.get(), b.get()));
}

Val operator<<(Val a, int n) { return a.With(a.builder().CreateShl(a.get(), n)); }
Val operator>>(Val a, int n) { return a.With(a.builder().CreateLShr(a.get(), n)); }
Val ShiftArithmetic(Val a, int n) { return a.With(a.builder().CreateAShr(a.get(), n)); }
Val UnsignedLess(Val a, Val b) { return a.With(a.builder().CreateICmpULT(a.get(), b.get())); }
Val Unordered(Val a, Val b) { return a.With(a.builder().CreateFCmpUNO(a.get(), b.get())); }

Val Select(Val condition, Val on_true, Val on_false) {
  return on_true.With(
      on_true.builder().CreateSelect(condition.get(), on_true.get(), on_false.get()));
}

Val Fma(Val a, Val b, Val c) {
  return a.With(
      a.builder().CreateIntrinsic(llvm::Intrinsic::fma, {a.type()}, {a.get(), b.get(), c.get()}));
}

Val Intrinsic(llvm::Intrinsic::ID id, Val a) {
  return a.With(a.builder().CreateIntrinsic(id, {a.type()}, {a.get()}));
}

Val Intrinsic(llvm::Intrinsic::ID id, Val a, Val b) {
  return a.With(a.builder().CreateIntrinsic(id, {a.type()}, {a.get(), b.get()}));
}

Val AtMost(Val x, double limit) { return Select(x > limit, limit, x); }
Val AtLeast(Val x, double limit) { return Select(x < limit, limit, x); }

Val ToBits(Val x) { return x.With(x.builder().CreateBitCast(x.get(), x.IntType(x.bits()))); }

Val FromBits(Val bits) {
  auto& builder = bits.builder();
  llvm::Type* scalar = bits.bits() == 64   ? builder.getDoubleTy()
                       : bits.bits() == 32 ? builder.getFloatTy()
                                           : builder.getHalfTy();
  return bits.With(builder.CreateBitCast(bits.get(), bits.Shaped(scalar)));
}

namespace {

// Flips the magnitude bits of negative numbers. Bit patterns of floats are sign and magnitude;
// compared as signed integers after this they have the floats' order, -NaN < -inf < ... < -0 < 0 <
// ... < NaN.
Val FlipNegatives(Val bits) {
  const uint64_t magnitude = ~uint64_t{0} >> (65 - bits.bits());
  return bits ^ (ShiftArithmetic(bits, bits.bits() - 1) & magnitude);
}

}  // namespace

Val TotalOrderKey(Val x) { return FlipNegatives(ToBits(x)); }

Val FromTotalOrderKey(Val key) { return FromBits(FlipNegatives(key)); }

Val ToDouble(Val x) {
  auto& builder = x.builder();
  if (!x.is_float()) return x.With(builder.CreateSIToFP(x.get(), x.DoubleType()));
  return x.With(builder.CreateFPCast(x.get(), x.DoubleType()));
}

Val ToFloat(Val x) {
  auto& builder = x.builder();
  if (!x.is_float()) return x.With(builder.CreateSIToFP(x.get(), x.FloatType()));
  return x.With(builder.CreateFPCast(x.get(), x.FloatType()));
}

Val Resize(Val x, int bits) {
  return x.With(x.builder().CreateSExtOrTrunc(x.get(), x.IntType(bits)));
}
Val ResizeUnsigned(Val x, int bits) {
  return x.With(x.builder().CreateZExtOrTrunc(x.get(), x.IntType(bits)));
}

// c0 x^n + c1 x^(n-1) + ... + cn, by one fused multiply-add a coefficient.
Val Horner(Val x, std::initializer_list<double> coefficients) {
  auto it = coefficients.begin();
  Val sum = x.Const(*it++);
  for (; it != coefficients.end(); ++it) sum = Fma(sum, x, *it);
  return sum;
}

// a + b exactly as hi + lo, if |a| >= |b| (Dekker, 1971).
ValPair FastTwoSum(Val a, Val b) {
  Val hi = a + b;
  return {hi, b - (hi - a)};
}

// a + b exactly as hi + lo, for any a and b (Knuth, The Art of Computer Programming, 4.2.2).
ValPair TwoSum(Val a, Val b) {
  Val hi = a + b;
  Val b_part = hi - a;
  return {hi, (a - (hi - b_part)) + (b - b_part)};
}

// a b exactly as hi + lo.
ValPair TwoProduct(Val a, Val b) {
  Val hi = a * b;
  return {hi, Fma(a, b, -hi)};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
