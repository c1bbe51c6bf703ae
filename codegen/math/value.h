// Arithmetic on LLVM values written as expressions: Val carries the builder, its operators emit
// instructions.
//   Val y = Fma(x, x, x.Const(1)) * 0.5;   // three instructions at the builder's insertion point
// A Val may be a scalar or a vector; a C++ number on the right of an operator becomes a (splat)
// constant of its type.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "codegen/llvm.h"

namespace hlokit {

template <typename T>
concept Number = std::is_arithmetic_v<T>;

class Val {
 public:
  Val() = default;
  Val(llvm::IRBuilderBase& builder, llvm::Value* value) : builder_(&builder), value_(value) {}

  llvm::Value* get() const { return value_; }
  llvm::IRBuilderBase& builder() const { return *builder_; }
  llvm::Type* type() const { return value_->getType(); }
  bool is_float() const { return type()->isFPOrFPVectorTy(); }
  bool is_f64() const { return type()->getScalarType()->isDoubleTy(); }
  int bits() const { return static_cast<int>(type()->getScalarSizeInBits()); }

  Val With(llvm::Value* value) const { return Val(*builder_, value); }
  // `scalar`, or a vector of it with as many lanes as this value has.
  llvm::Type* Shaped(llvm::Type* scalar) const;
  llvm::Type* IntType(int bits) const { return Shaped(builder_->getIntNTy(bits)); }
  llvm::Type* FloatType() const { return Shaped(builder_->getFloatTy()); }
  llvm::Type* DoubleType() const { return Shaped(builder_->getDoubleTy()); }

  // A constant of this value's type.
  template <Number T>
  Val Const(T c) const {
    if (is_float()) return With(llvm::ConstantFP::get(type(), static_cast<double>(c)));
    return With(llvm::ConstantInt::get(type(), static_cast<uint64_t>(c), std::is_signed_v<T>));
  }
  Val Infinity() const { return With(llvm::ConstantFP::getInfinity(type())); }
  Val NaN() const { return With(llvm::ConstantFP::getNaN(type())); }

 private:
  llvm::IRBuilderBase* builder_ = nullptr;
  llvm::Value* value_ = nullptr;
};

// Floats add as fadd, integers as add, and so on. Comparisons are ordered (false on NaN), or signed
// on integers.
Val operator+(Val a, Val b);
Val operator-(Val a, Val b);
Val operator*(Val a, Val b);
Val operator/(Val a, Val b);  // floats only
Val operator-(Val a);
Val operator&(Val a, Val b);
Val operator|(Val a, Val b);
Val operator^(Val a, Val b);
Val operator!(Val a);
Val operator<(Val a, Val b);
Val operator<=(Val a, Val b);
Val operator==(Val a, Val b);
inline Val operator>(Val a, Val b) { return b < a; }
inline Val operator>=(Val a, Val b) { return b <= a; }
Val operator<<(Val a, int n);
Val operator>>(Val a, int n);  // logical
Val ShiftArithmetic(Val a, int n);
Val UnsignedLess(Val a, Val b);
// True where either is NaN.
Val Unordered(Val a, Val b);

template <Number T>
Val operator+(Val a, T c) {
  return a + a.Const(c);
}
template <Number T>
Val operator-(Val a, T c) {
  return a - a.Const(c);
}
template <Number T>
Val operator*(Val a, T c) {
  return a * a.Const(c);
}
template <Number T>
Val operator-(T c, Val a) {
  return a.Const(c) - a;
}
template <Number T>
Val operator/(T c, Val a) {
  return a.Const(c) / a;
}
template <Number T>
Val operator&(Val a, T c) {
  return a & a.Const(c);
}
template <Number T>
Val operator|(Val a, T c) {
  return a | a.Const(c);
}
template <Number T>
Val operator^(Val a, T c) {
  return a ^ a.Const(c);
}
template <Number T>
Val operator<(Val a, T c) {
  return a < a.Const(c);
}
template <Number T>
Val operator<=(Val a, T c) {
  return a <= a.Const(c);
}
template <Number T>
Val operator>(Val a, T c) {
  return a > a.Const(c);
}
template <Number T>
Val operator>=(Val a, T c) {
  return a >= a.Const(c);
}
template <Number T>
Val operator==(Val a, T c) {
  return a == a.Const(c);
}

Val Select(Val condition, Val on_true, Val on_false);
template <Number T>
Val Select(Val c, T t, Val f) {
  return Select(c, f.Const(t), f);
}
template <Number T>
Val Select(Val c, Val t, T f) {
  return Select(c, t, t.Const(f));
}

// a * b + c with one rounding.
Val Fma(Val a, Val b, Val c);
template <Number T>
Val Fma(Val a, T b, Val c) {
  return Fma(a, a.Const(b), c);
}
template <Number T>
Val Fma(Val a, Val b, T c) {
  return Fma(a, b, a.Const(c));
}
template <Number T, Number U>
Val Fma(Val a, T b, U c) {
  return Fma(a, a.Const(b), a.Const(c));
}

Val Intrinsic(llvm::Intrinsic::ID id, Val a);
Val Intrinsic(llvm::Intrinsic::ID id, Val a, Val b);
inline Val Abs(Val x) { return Intrinsic(llvm::Intrinsic::fabs, x); }
inline Val Sqrt(Val x) { return Intrinsic(llvm::Intrinsic::sqrt, x); }
inline Val Floor(Val x) { return Intrinsic(llvm::Intrinsic::floor, x); }
inline Val RoundEven(Val x) { return Intrinsic(llvm::Intrinsic::roundeven, x); }
inline Val CopySign(Val magnitude, Val sign) {
  return Intrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

// The smaller (larger) of a float and a constant; NaN stays NaN.
Val AtMost(Val x, double limit);
Val AtLeast(Val x, double limit);

// Same-width reinterpretation, and conversions between widths.
Val ToBits(Val x);
Val FromBits(Val bits);               // i16 -> half, i32 -> float, i64 -> double
Val ToDouble(Val x);                  // from float or a signed integer
Val ToFloat(Val x);                   // from double or a signed integer
Val Resize(Val x, int bits);          // integers: truncates or sign-extends
Val ResizeUnsigned(Val x, int bits);  // integers: truncates or zero-extends

// An integer that orders like the float in total order (-NaN < -inf ... -0 < 0 ... NaN), and the
// float of such a key.
Val TotalOrderKey(Val x);
Val FromTotalOrderKey(Val key);

// Polynomial by Horner's rule with fused steps, coefficients from the highest power down.
Val Horner(Val x, std::initializer_list<double> coefficients);

// An unevaluated sum hi + lo, with |lo| at most half an ulp of hi.
struct ValPair {
  Val hi;
  Val lo;
};
ValPair FastTwoSum(Val a, Val b);  // wants |a| >= |b| or a == 0
ValPair TwoSum(Val a, Val b);
ValPair TwoProduct(Val a, Val b);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
