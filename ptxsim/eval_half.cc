// f16, bf16 and their pairs: computed in double with one rounding to the narrow format. Sums of
// doubles are rounded to odd first, so that the second rounding cannot mistake a result for a tie.
// Pairs are two lanes of 16 bits in a 32-bit register, computed like twice as many lanes.
#include <cmath>
#include <cstdint>

#include "ptxsim/bind_internal.h"
#include "ptxsim/lanes.h"
#include "ptxsim/rounding.h"

namespace hlokit::ptx {
namespace {

enum HalfFlags : uint32_t {
  kFtz = 1,
  kSat = 2,
  kRelu = 4,
  kMax = 8,
  kNanModifier = 16,
  kXorSign = 32,
  kThree = 64
};

struct F16 {
  static constexpr uint16_t kNan = 0x7fff;
  static constexpr uint16_t kExponent = 0x7c00;
  static constexpr uint16_t kOutOfBounds = 0x7eff;
  static float Read(uint16_t bits) { return F16Value(bits); }
  static uint16_t Write(double x) { return RoundToF16(x); }
};
struct BF16 {
  static constexpr uint16_t kNan = 0x7fff;
  static constexpr uint16_t kExponent = 0x7f80;
  static constexpr uint16_t kOutOfBounds = 0xfff7;  // seen on an H200
  static float Read(uint16_t bits) { return BF16Value(bits); }
  static uint16_t Write(double x) { return RoundToBF16(x); }
};

// With .ftz a subnormal becomes a zero of its sign.
template <typename H>
uint16_t Flush(uint16_t bits, uint32_t flags) {
  return (flags & kFtz) && (bits & H::kExponent) == 0 ? bits & 0x8000 : bits;
}

// Products and sums of narrow values; sums are rounded to odd, so the second rounding is harmless.
struct AddH {
  static double Do(double a, double b, double) { return AddToOdd(a, b); }
};
struct SubH {
  static double Do(double a, double b, double) { return AddToOdd(a, -b); }
};
struct MulH {
  static double Do(double a, double b, double) { return a * b; }
};
struct FmaH {
  static double Do(double a, double b, double c) { return AddToOdd(a * b, c); }
};
// ex2.approx: 2^x.
struct Ex2H {
  static double Do(double a, double, double) { return std::exp2(a); }
};
struct TanhH {
  static double Do(double a, double, double) { return std::tanh(a); }
};

template <typename H>
uint16_t Leave(double x, uint32_t flags) {
  if (flags & kSat) x = x > 0 ? std::min(x, 1.0) : 0.0;
  // relu: negative values become +0; NaN stays NaN.
  if ((flags & kRelu) && (x < 0 || (x == 0 && std::signbit(x)))) x = 0;
  return Flush<H>(H::Write(x), flags);
}

// The lanes of an operation's operands and of its result. Pairs lie side by side: they are twice as
// many lanes. What an operation does not take is its first operand again.
struct HalfLanes {
  const uint16_t* a;
  const uint16_t* b;
  const uint16_t* c;
  uint16_t* d;
  int count;
};

HalfLanes LanesOf(const Op& op, std::byte* frame, void* result, int arity = 3) {
  return {In<uint16_t>(frame, op.a), In<uint16_t>(frame, arity > 1 ? op.b : op.a),
          In<uint16_t>(frame, arity > 2 ? op.c : op.a), static_cast<uint16_t*>(result),
          op.result_bytes == 4 ? 2 * kLanes : kLanes};
}

template <typename F, typename H, int kArity>
void Compute(const Op& op, std::byte* frame, void* result) {
  const auto [a, b, c, d, count] = LanesOf(op, frame, result, kArity);
  const uint32_t flags = op.flags;
  for (int i = 0; i < count; ++i)
    d[i] = Leave<H>(F::Do(H::Read(Flush<H>(a[i], flags)), H::Read(Flush<H>(b[i], flags)),
                          H::Read(Flush<H>(c[i], flags))),
                    flags);
}

// fma.oob: +0 where a or b is the NaN that tensor copies put in the place of what lies outside.
template <typename H>
void FmaOutOfBounds(const Op& op, std::byte* frame, void* result) {
  const auto [a, b, c, d, count] = LanesOf(op, frame, result);
  for (int i = 0; i < count; ++i) {
    const bool outside = a[i] == H::kOutOfBounds || b[i] == H::kOutOfBounds;
    d[i] = outside ? 0 : Leave<H>(FmaH::Do(H::Read(a[i]), H::Read(b[i]), H::Read(c[i])), op.flags);
  }
}

// The number where one operand is NaN, or NaN with .NaN; -0 is below +0. With .xorsign the result
// has the product's sign.
template <typename H>
uint16_t MinMax(uint16_t a, uint16_t b, uint32_t flags) {
  a = Flush<H>(a, flags);
  b = Flush<H>(b, flags);
  uint16_t sign = 0;
  if (flags & kXorSign) {
    sign = (a ^ b) & 0x8000;
    a &= 0x7fff;
    b &= 0x7fff;
  }
  const float x = H::Read(a), y = H::Read(b);
  if (x != x || y != y) {
    if ((flags & kNanModifier) || (x != x && y != y)) return H::kNan;
    return (x != x ? b : a) | sign;
  }
  if (x == y) return ((flags & kMax) ? (a & 0x8000 ? b : a) : (a & 0x8000 ? a : b)) | sign;
  return ((x < y) == !(flags & kMax) ? a : b) | sign;
}
template <typename H>
void MinMaxLanes(const Op& op, std::byte* frame, void* result) {
  const auto [a, b, c, d, count] = LanesOf(op, frame, result);
  for (int i = 0; i < count; ++i) {
    uint16_t x = MinMax<H>(a[i], b[i], op.flags);
    if (op.flags & kThree) x = MinMax<H>(x, c[i], op.flags);
    d[i] = x;
  }
}

bool IsBrain(Type t) { return t == Type::kBF16 || t == Type::kBF16x2; }

uint32_t FlagsOf(const Binder& b) {
  return When(b.Has("ftz"), kFtz) | When(b.Has("sat"), kSat) | When(b.Has("relu"), kRelu);
}

void BindHalf(Binder& b, Eval eval, int arity, uint32_t flags) {
  const Type type = b.type();
  if (b.size() != arity + 1) return b.Unsupported();
  Op op = b.MakeEval(eval, type, 0);
  op.flags = flags;
  op.a = b.Source(1, type);
  if (arity > 1) op.b = b.Source(2, type);
  op.c = arity > 2 ? b.Source(3, type) : op.a;
  op.d = b.Result(0, type);
  if (!b.failed()) b.Emit(op);
}
template <typename F, int kArity>
void BindHalf(Binder& b) {
  BindHalf(b, IsBrain(b.type()) ? Eval(&Compute<F, BF16, kArity>) : Eval(&Compute<F, F16, kArity>),
           kArity, FlagsOf(b));
}

// Sign bits of both halves of a word; a NaN becomes the one NaN.
template <typename H, bool kAbs>
void SignLanes(const Op& op, std::byte* frame, void* result) {
  const HalfLanes lanes = LanesOf(op, frame, result, 1);
  for (int i = 0; i < lanes.count; ++i) {
    const uint16_t x = Flush<H>(lanes.a[i], op.flags);
    const uint16_t signed_x = kAbs ? x & 0x7fff : x ^ 0x8000;
    lanes.d[i] = (x & 0x7fff) > H::kExponent ? static_cast<uint16_t>(H::kNan) : signed_x;
  }
}

template <typename H, bool kFlush>
struct ToFloat {
  static float Do(uint16_t a) { return H::Read(Flush<H>(a, kFlush ? uint32_t{kFtz} : 0)); }
};

}  // namespace

uint32_t WidenHalf(Binder& b, uint32_t at, Type type, bool flush) {
  const Eval eval = IsBrain(type) ? Eval(&Unary<ToFloat<BF16, false>, float, uint16_t>)
                    : flush       ? Eval(&Unary<ToFloat<F16, true>, float, uint16_t>)
                                  : Eval(&Unary<ToFloat<F16, false>, float, uint16_t>);
  Op op = b.MakeEval(eval, Type::kF32, b.Temporary(4));
  op.a = at;
  return b.Emit(op).d;
}

void BindHalfAdd(Binder& b) { BindHalf<AddH, 2>(b); }
void BindHalfSub(Binder& b) { BindHalf<SubH, 2>(b); }
void BindHalfMul(Binder& b) { BindHalf<MulH, 2>(b); }
void BindHalfFma(Binder& b) {
  if (b.Has("oob"))
    return BindHalf(b, IsBrain(b.type()) ? Eval(&FmaOutOfBounds<BF16>) : Eval(&FmaOutOfBounds<F16>),
                    3, FlagsOf(b));
  BindHalf<FmaH, 3>(b);
}
void BindHalfEx2(Binder& b) { BindHalf<Ex2H, 1>(b); }
void BindHalfTanh(Binder& b) { BindHalf<TanhH, 1>(b); }
void BindHalfMinMax(Binder& b, bool max) {
  const uint32_t flags = FlagsOf(b) | When(max, kMax) | When(b.Has("NaN"), kNanModifier) |
                         When(b.Has("xorsign"), kXorSign) | When(b.size() == 4, kThree);
  BindHalf(b, IsBrain(b.type()) ? Eval(&MinMaxLanes<BF16>) : Eval(&MinMaxLanes<F16>), b.size() - 1,
           flags);
}
void BindHalfSign(Binder& b, bool abs) {
  const bool brain = IsBrain(b.type());
  BindHalf(b,
           abs ? (brain ? Eval(&SignLanes<BF16, true>) : Eval(&SignLanes<F16, true>))
               : (brain ? Eval(&SignLanes<BF16, false>) : Eval(&SignLanes<F16, false>)),
           1, FlagsOf(b));
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
