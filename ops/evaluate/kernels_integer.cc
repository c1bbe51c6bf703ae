// Kernels on integers and pred, in 64 bits; what depends on the element's width takes it from the
// type.
#include <bit>
#include <limits>
#include <type_traits>

#include "ops/evaluate/kernels.h"

namespace hlokit {
namespace {

// Zero-extended from the element's width.
uint64_t Bits(uint64_t x, int width) { return width == 64 ? x : x & ((uint64_t{1} << width) - 1); }
// Sign-extended from the element's width.
int64_t Extend(uint64_t x, int width) {
  return static_cast<int64_t>(x << (64 - width)) >> (64 - width);
}

template <typename T>
T Add(T x, T y, int) {
  return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
template <typename T>
T Subtract(T x, T y, int) {
  return static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
}
template <typename T>
T Multiply(T x, T y, int) {
  return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}
template <typename T>
T Divide(T x, T y, int) {
  if (y == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && y == static_cast<T>(-1)) return Subtract<T>(0, x, 0);
  return x / y;
}
template <typename T>
T Remainder(T x, T y, int) {
  if (y == 0) return x;
  if (std::is_signed_v<T> && y == static_cast<T>(-1)) return 0;
  return x % y;
}
template <typename T>
T Maximum(T x, T y, int) {
  return x > y ? x : y;
}
template <typename T>
T Minimum(T x, T y, int) {
  return x < y ? x : y;
}
template <typename T>
T And(T x, T y, int) {
  return x & y;
}
template <typename T>
T Or(T x, T y, int) {
  return x | y;
}
template <typename T>
T Xor(T x, T y, int) {
  return x ^ y;
}

// A negative power is 0, except of 1 and -1.
template <typename T>
T Power(T x, T y, int) {
  if (std::is_signed_v<T> && y < 0) {
    if (x == 1) return 1;
    if (x == static_cast<T>(-1)) return y % 2 == 0 ? T{1} : static_cast<T>(-1);
    return 0;
  }
  uint64_t result = 1, base = static_cast<uint64_t>(x);
  for (uint64_t e = static_cast<uint64_t>(y); e != 0; e >>= 1, base *= base)
    if (e & 1) result *= base;
  return static_cast<T>(result);
}

template <typename T>
T ShiftLeft(T x, T y, int width) {
  const uint64_t by = Bits(y, width);
  return by >= static_cast<uint64_t>(width) ? 0 : static_cast<T>(static_cast<uint64_t>(x) << by);
}
template <typename T>
T ShiftRightLogical(T x, T y, int width) {
  const uint64_t by = Bits(y, width);
  return by >= static_cast<uint64_t>(width) ? 0 : static_cast<T>(Bits(x, width) >> by);
}
template <typename T>
T ShiftRightArithmetic(T x, T y, int width) {
  const uint64_t by = std::min<uint64_t>(Bits(y, width), width - 1);
  return static_cast<T>(Extend(x, width) >> by);
}
template <typename T>
T Mulhi(T x, T y, int width) {
  using Double = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((Double{x} * Double{y}) >> width);
}

template <typename T>
T Abs(T x, int) {
  return std::is_signed_v<T> && x < 0 ? Subtract<T>(0, x, 0) : x;
}
template <typename T>
T Negate(T x, int) {
  return Subtract<T>(0, x, 0);
}
template <typename T>
T Not(T x, int) {
  return ~x;
}
template <typename T>
T Sign(T x, int) {
  return static_cast<T>((x > 0) - (std::is_signed_v<T> && x < 0));
}
template <typename T>
T CountLeadingZeros(T x, int width) {
  return std::countl_zero(Bits(x, width)) - (64 - width);
}
template <typename T>
T PopulationCount(T x, int width) {
  return std::popcount(Bits(x, width));
}

template <typename T, T (*F)(T, int)>
void Unary(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const int width = BitWidth(call.in);
  const T* x = static_cast<const T*>(in[0]);
  T* r = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = F(x[i], width);
}

template <typename T, T (*F)(T, T, int)>
void Binary(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const int width = BitWidth(call.in);
  const T* x = static_cast<const T*>(in[0]);
  const T* y = static_cast<const T*>(in[1]);
  T* r = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = F(x[i], y[i], width);
}

// not: logical on pred, of the bits on integers.
template <typename T>
void RunNot(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  if (!IsPred(call.in)) return Unary<T, Not<T>>(call, in, out, n);
  const T* x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = x[i] == 0;
}

template <typename T>
constexpr KernelRow kKernels[] = {
    {Opcode::kAbs, Unary<T, Abs<T>>},
    {Opcode::kAdd, Binary<T, Add<T>>},
    {Opcode::kAnd, Binary<T, And<T>>},
    {Opcode::kCountLeadingZeros, Unary<T, CountLeadingZeros<T>>},
    {Opcode::kDivide, Binary<T, Divide<T>>},
    {Opcode::kMaximum, Binary<T, Maximum<T>>},
    {Opcode::kMinimum, Binary<T, Minimum<T>>},
    {Opcode::kMulhi, Binary<T, Mulhi<T>>},
    {Opcode::kMultiply, Binary<T, Multiply<T>>},
    {Opcode::kNegate, Unary<T, Negate<T>>},
    {Opcode::kNot, RunNot<T>},
    {Opcode::kOr, Binary<T, Or<T>>},
    {Opcode::kPopulationCount, Unary<T, PopulationCount<T>>},
    {Opcode::kPower, Binary<T, Power<T>>},
    {Opcode::kRemainder, Binary<T, Remainder<T>>},
    {Opcode::kShiftLeft, Binary<T, ShiftLeft<T>>},
    {Opcode::kShiftRightArithmetic, Binary<T, ShiftRightArithmetic<T>>},
    {Opcode::kShiftRightLogical, Binary<T, ShiftRightLogical<T>>},
    {Opcode::kSign, Unary<T, Sign<T>>},
    {Opcode::kSubtract, Binary<T, Subtract<T>>},
    {Opcode::kXor, Binary<T, Xor<T>>},
};

}  // namespace

KernelCall::Function SignedKernel(Opcode opcode) { return KernelIn(kKernels<int64_t>, opcode); }
KernelCall::Function UnsignedKernel(Opcode opcode) { return KernelIn(kKernels<uint64_t>, opcode); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
