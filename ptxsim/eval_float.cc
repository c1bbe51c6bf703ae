// f32 and f64 arithmetic: ISA, "Floating-Point Instructions". Results are rounded once, in the mode
// that the instruction names; .ftz flushes subnormal operands and results to zeros of their sign,
// .sat clamps to [0, 1] with NaN as 0.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ptxsim/bind_internal.h"
#include "ptxsim/lane_kernels.h"
#include "ptxsim/lanes.h"
#include "ptxsim/mufu.h"
#include "ptxsim/rounding.h"

namespace hlokit::ptx {
namespace {

// What an operation does to its operands and result beside computing.
enum FloatFlags : uint32_t { kPlain = 0, kFtz = 1, kSat = 2 };

template <typename T>
T Saturate(T x) {
  return x > 0 ? (x < 1 ? x : T(1)) : T(0);
}  // NaN: +0

struct AddF {
  template <typename T>
  static T Do(T a, T b, T) {
    return a + b;
  }
};
struct SubF {
  template <typename T>
  static T Do(T a, T b, T) {
    return a - b;
  }
};
struct MulF {
  template <typename T>
  static T Do(T a, T b, T) {
    return a * b;
  }
};
// fma: one rounding.
struct FmaF {
  template <typename T>
  static T Do(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct DivF {
  template <typename T>
  static T Do(T a, T b, T) {
    return a / b;
  }
};
struct SqrtF {
  template <typename T>
  static T Do(T a, T, T) {
    return std::sqrt(a);
  }
};
struct RcpF {
  template <typename T>
  static T Do(T a, T, T) {
    return T(1) / a;
  }
};
struct NegF {
  template <typename T>
  static T Do(T a, T, T) {
    return -a;
  }
};
struct AbsF {
  template <typename T>
  static T Do(T a, T, T) {
    return std::fabs(a);
  }
};

// An operand: flushed with .ftz.
template <typename T, uint32_t kFlags>
T Enter(T x) {
  if constexpr (sizeof(T) == 4 && (kFlags & kFtz) != 0) return FlushF32(x);
  return x;
}
// A result: flushed with .ftz, clamped with .sat.
template <typename T, uint32_t kFlags>
T Leave(T x) {
  if constexpr (sizeof(T) == 4) {
    if constexpr ((kFlags & kFtz) != 0) x = FlushF32(x);
    if constexpr ((kFlags & kSat) == 0) x = CanonicalNan(x);
  }
  if constexpr ((kFlags & kSat) != 0) x = Saturate(x);
  return x;
}

// The NaN that f64 gives of NaNs: the second operand's, else the third's, else the first's, quiet.
inline double ChosenNan(double result, double a, double b, double c) {
  if (result == result) return result;
  const double from = b != b ? b : c != c ? c : a;
  if (from == from) return result;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(from) | uint64_t{1} << 51);
}

// Fused multiply-adds of all lanes by the processor's instruction; false where it has none.
template <typename T, uint32_t kFlags>
bool FuseLanes(const T* a, const T* b, const T* c, T* d) {
  constexpr bool kWide = sizeof(T) == 8;
  const LaneKernels& kernels = BestLaneKernels();
  if ((kWide ? kernels.fma_f64 == nullptr : kernels.fma_f32 == nullptr)) return false;
  T x[kLanes], y[kLanes], z[kLanes], r[kLanes];
  HLOKIT_LANES(i) {
    x[i] = Enter<T, kFlags>(a[i]);
    y[i] = Enter<T, kFlags>(b[i]);
    z[i] = Enter<T, kFlags>(c[i]);
  }
  if constexpr (kWide)
    kernels.fma_f64(x, y, z, r);
  else
    kernels.fma_f32(x, y, z, r);
  HLOKIT_LANES(i) {
    r[i] = Leave<T, kFlags>(r[i]);
    if constexpr (kWide) r[i] = ChosenNan(r[i], x[i], y[i], z[i]);
    d[i] = r[i];
  }
  return true;
}

template <typename F, typename T, int kArity, uint32_t kFlags>
void Arithmetic(const Op& op, std::byte* frame, void* result) {
  const T* a = In<T>(frame, op.a);
  const T* b = In<T>(frame, kArity > 1 ? op.b : op.a);
  const T* c = In<T>(frame, kArity > 2 ? op.c : op.a);
  T* d = static_cast<T*>(result);
  if constexpr (std::is_same_v<F, FmaF>)
    if (FuseLanes<T, kFlags>(a, b, c, d)) return;
  HLOKIT_LANES(i) {
    const T x = a[i], y = b[i], z = c[i];
    T r = Leave<T, kFlags>(
        F::template Do<T>(Enter<T, kFlags>(x), Enter<T, kFlags>(y), Enter<T, kFlags>(z)));
    if constexpr (sizeof(T) == 8 && !std::is_same_v<F, DivF>) r = ChosenNan(r, x, y, z);
    d[i] = r;
  }
}
// The same in the rounding mode op.mode.
template <typename F, typename T, int kArity, uint32_t kFlags>
void Rounded(const Op& op, std::byte* frame, void* result) {
  const RoundingScope scope(static_cast<Rounding>(op.mode));
  Arithmetic<F, T, kArity, kFlags>(op, frame, result);
}

template <typename F, typename T, int kArity>
Eval ArithmeticOf(uint32_t flags, bool rounded) {
  switch (flags) {
    case kPlain:
      return rounded ? &Rounded<F, T, kArity, 0> : &Arithmetic<F, T, kArity, 0>;
    case kFtz:
      return rounded ? &Rounded<F, T, kArity, 1> : &Arithmetic<F, T, kArity, 1>;
    case kSat:
      return rounded ? &Rounded<F, T, kArity, 2> : &Arithmetic<F, T, kArity, 2>;
    default:
      return rounded ? &Rounded<F, T, kArity, 3> : &Arithmetic<F, T, kArity, 3>;
  }
}

Rounding RoundingOf(const Binder& b) {
  if (b.Has("rz")) return Rounding::kZero;
  if (b.Has("rm")) return Rounding::kDown;
  if (b.Has("rp")) return Rounding::kUp;
  return Rounding::kNearest;
}
uint32_t FlagsOf(const Binder& b) { return When(b.Has("ftz"), kFtz) | When(b.Has("sat"), kSat); }

// `add.f32x2` and its like do both halves of 64-bit registers.
template <typename F, int kArity>
void Pairs(const Op& op, std::byte* frame, void* result) {
  const float* a = In<float>(frame, op.a);
  const float* b = In<float>(frame, kArity > 1 ? op.b : op.a);
  const float* c = In<float>(frame, kArity > 2 ? op.c : op.a);
  float* d = static_cast<float*>(result);
  const bool flush = op.flags & kFtz;
  const RoundingScope scope(static_cast<Rounding>(op.mode));
  for (int i = 0; i < 2 * kLanes; ++i) {
    const auto in = [&](float x) { return flush ? FlushF32(x) : x; };
    const float x = F::template Do<float>(in(a[i]), in(b[i]), in(c[i]));
    d[i] = CanonicalNan(flush ? FlushF32(x) : x);
  }
}

// The columns of an operation's sources. Of mixed precision (add.f32.f16, fma.f32.bf16) all but the
// last are narrow: they are widened, which is exact. False: reported.
bool FloatSources(Binder& b, Type type, int arity, uint32_t* sources) {
  const Type narrow = b.type(1);
  const bool mixed = narrow != Type::kNone;
  const absl::string_view name = b.instruction().opcode;
  if (mixed && ((name != "add" && name != "sub" && name != "fma") || type != Type::kF32 ||
                (narrow != Type::kF16 && narrow != Type::kBF16)))
    return b.Unsupported(), false;
  for (int i = 0; i < arity; ++i) {
    const bool widen = mixed && i + 1 < arity;
    sources[i] = b.Source(i + 1, widen ? narrow : type);
    if (b.failed()) return false;
    if (widen) sources[i] = WidenHalf(b, sources[i], narrow, false);
  }
  return true;
}

template <typename F, int kArity>
void BindArithmetic(Binder& b) {
  Type type = b.type();
  const Rounding rounding = RoundingOf(b);
  const bool rounded = rounding != Rounding::kNearest;
  Eval eval = nullptr;
  if (type == Type::kF32) eval = ArithmeticOf<F, float, kArity>(FlagsOf(b), rounded);
  if (type == Type::kF64)
    eval = rounded ? Eval(&Rounded<F, double, kArity, 0>) : Eval(&Arithmetic<F, double, kArity, 0>);
  if (type == Type::kF32x2) eval = &Pairs<F, kArity>;
  if (eval == nullptr) return b.Unsupported();
  if (b.size() != kArity + 1) return b.Unsupported();
  uint32_t sources[kArity];
  if (!FloatSources(b, type, kArity, sources)) return;
  Op op = b.MakeEval(eval, type, 0);
  op.mode = static_cast<uint8_t>(rounding);
  op.flags = FlagsOf(b);
  op.a = sources[0];
  if (kArity > 1) op.b = sources[kArity > 1 ? 1 : 0];
  if (kArity > 2) op.c = sources[kArity - 1];
  op.d = b.Result(0, type);
  if (!b.failed()) b.Emit(op);
}

// min and max: the number where one operand is NaN, or NaN with .NaN; -0 is below +0.
struct MinMaxMode {
  enum : uint32_t { kMax = 4, kNanModifier = 8, kXorSignAbs = 16, kThree = 32, kAbs = 64 };
};
template <typename T, typename U>
T MinMax(T a, T b, uint32_t flags) {
  if (flags & kFtz) {
    if constexpr (sizeof(T) == 4) {
      a = FlushF32(a);
      b = FlushF32(b);
    }
  }
  constexpr U kSign = U{1} << (8 * sizeof(T) - 1);
  U sign = 0;
  if (flags & MinMaxMode::kXorSignAbs) sign = (std::bit_cast<U>(a) ^ std::bit_cast<U>(b)) & kSign;
  if (flags & (MinMaxMode::kXorSignAbs | MinMaxMode::kAbs)) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  T d;
  if (a != a || b != b) {
    if ((flags & MinMaxMode::kNanModifier) || (a != a && b != b)) {
      if (sizeof(T) == 4) return std::bit_cast<T>(U(0x7fffffffu));
      const U quiet = U{1} << (std::numeric_limits<T>::digits - 2);
      return std::bit_cast<T>(U(std::bit_cast<U>(b) | quiet));  // of f64 the second operand's
    }
    d = a != a ? b : a;
  } else if (a == b) {  // zeros of both signs
    const bool a_negative = std::bit_cast<U>(a) & kSign;
    d = (flags & MinMaxMode::kMax) ? (a_negative ? b : a) : (a_negative ? a : b);
  } else {
    d = (a < b) == !(flags & MinMaxMode::kMax) ? a : b;
  }
  return std::bit_cast<T>(U(std::bit_cast<U>(d) | sign));
}
template <typename T, typename U>
void MinMaxLanes(const Op& op, std::byte* frame, void* result) {
  const T* a = In<T>(frame, op.a);
  const T* b = In<T>(frame, op.b);
  const T* c = In<T>(frame, op.c);
  T* d = static_cast<T*>(result);
  const uint32_t flags = op.flags;
  HLOKIT_LANES(i) {
    T x = MinMax<T, U>(a[i], b[i], flags);
    if (flags & MinMaxMode::kThree) x = MinMax<T, U>(x, c[i], flags);
    d[i] = x;
  }
}
void BindMinMax(Binder& b, bool max) {
  const Type type = b.type();
  Eval eval = nullptr;
  if (type == Type::kF32) eval = &MinMaxLanes<float, uint32_t>;
  if (type == Type::kF64) eval = &MinMaxLanes<double, uint64_t>;
  if (eval == nullptr) return b.Unsupported();
  Op op = b.MakeEval(eval, type, 0);
  op.flags = When(max, MinMaxMode::kMax) | When(b.Has("ftz"), kFtz) |
             When(b.Has("NaN"), MinMaxMode::kNanModifier) |
             When(b.Has("xorsign"), MinMaxMode::kXorSignAbs) |
             When(b.Has("abs") && !b.Has("xorsign"), MinMaxMode::kAbs) |
             When(b.size() == 4, MinMaxMode::kThree);
  op.a = b.Source(1, type);
  op.b = b.Source(2, type);
  op.c = b.size() == 4 ? b.Source(3, type) : op.a;
  op.d = b.Result(0, type);
  if (!b.failed()) b.Emit(op);
}

// Approximations: the bits of an H200 (mufu.h), but for tanh, which is correctly rounded here.
struct TanhA {
  static float Do(float x) { return float(std::tanh(double(x))); }
};

template <float (*kFunction)(float), bool kFlush>
void Approximate(const Op& op, std::byte* frame, void* result) {
  const float* a = In<float>(frame, op.a);
  float* d = static_cast<float*>(result);
  for (int i = 0; i < kLanes; ++i) {
    const float x = kFunction(kFlush ? FlushF32(a[i]) : a[i]);
    d[i] = CanonicalNan(kFlush ? FlushF32(x) : x);
  }
}
template <float (*kExact)(float), float (*kFlushed)(float)>
void BindApproximate(Binder& b) {
  if (b.type() != Type::kF32) return b.Unsupported();
  b.Map(b.Has("ftz") ? Eval(&Approximate<kFlushed, true>) : Eval(&Approximate<kExact, false>),
        Type::kF32, {Type::kF32});
}
using Kept = Approximations<false>;
using Flushed = Approximations<true>;

// .approx.ftz.f64 works on the upper 32 bits of its operand; the lower ones of the result are 0.
template <uint32_t (*kFunction)(uint32_t)>
struct ApproximateF64 {
  static double Do(double x) {
    const uint64_t upper = kFunction(static_cast<uint32_t>(std::bit_cast<uint64_t>(x) >> 32));
    return std::bit_cast<double>(upper << 32);
  }
};

// rsqrt.approx.f64 without .ftz is a function of the compiler's, rounded.
struct RsqrtD {
  static double Do(double x) { return 1 / std::sqrt(x); }
};

// ISA, div.approx: for a divisor of 2^126 to 2^128 the quotient is 0, or NaN of an infinity.
struct DivApprox {
  static float Do(float a, float b) {
    const float size = std::fabs(b);
    if (size > 0x1p126f && size < HUGE_VALF)
      return std::isinf(a) ? NAN : std::copysign(0.0f, a) * std::copysign(1.0f, b);
    return a / b;
  }
};
// div.full.f32: within 2 ulp over the full range.
struct DivFull {
  static float Do(float a, float b) { return a / b; }
};
template <typename F, bool kFlush>
void Quotient(const Op& op, std::byte* frame, void* result) {
  const float* a = In<float>(frame, op.a);
  const float* b = In<float>(frame, op.b);
  float* d = static_cast<float*>(result);
  HLOKIT_LANES(i) {
    const float x = kFlush ? FlushF32(a[i]) : a[i], y = kFlush ? FlushF32(b[i]) : b[i];
    const float q = F::Do(x, y);
    d[i] = CanonicalNan(kFlush ? FlushF32(q) : q);
  }
}

template <typename T, typename U>
struct Copysign {
  // d has a's sign and b's magnitude.
  static U Do(U a, U b) {
    constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
    return (a & kSign) | (b & ~kSign);
  }
};

enum TestKind { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
template <typename T, TestKind kKind>
void Test(const Op& op, std::byte* frame, void* result) {
  const T* a = In<T>(frame, op.a);
  uint8_t lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const int kind = std::fpclassify(a[i]);
    lanes[i] = kKind == kFinite       ? kind != FP_NAN && kind != FP_INFINITE
               : kKind == kInfinite   ? kind == FP_INFINITE
               : kKind == kNumber     ? kind != FP_NAN
               : kKind == kNotANumber ? kind == FP_NAN
               // ISA: zero counts as normal.
               : kKind == kNormal ? kind == FP_NORMAL || kind == FP_ZERO
                                  : kind == FP_SUBNORMAL;
  }
  *static_cast<LaneMask*>(result) = PackBits(lanes);
}
template <typename T>
Eval TestOf(const Binder& b) {
  if (b.Has("finite")) return &Test<T, kFinite>;
  if (b.Has("infinite")) return &Test<T, kInfinite>;
  if (b.Has("number")) return &Test<T, kNumber>;
  if (b.Has("notanumber")) return &Test<T, kNotANumber>;
  if (b.Has("normal")) return &Test<T, kNormal>;
  if (b.Has("subnormal")) return &Test<T, kSubnormal>;
  return nullptr;
}

// Sign operations are those of bits; .ftz flushes first. NaN keeps its bits.
template <bool kAbs, bool kFlush>
struct SignF32 {
  static uint32_t Do(uint32_t a) {
    if (kFlush && (a & 0x7f800000u) == 0) a &= 0x80000000u;
    if ((a & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
    return kAbs ? a & 0x7fffffffu : a ^ 0x80000000u;
  }
};
// A NaN keeps its sign and becomes quiet.
template <bool kAbs>
struct SignF64 {
  static uint64_t Do(uint64_t a) {
    if ((a & ~(uint64_t{1} << 63)) > 0x7ff0000000000000u) return a | uint64_t{1} << 51;
    return kAbs ? a & ~(uint64_t{1} << 63) : a ^ (uint64_t{1} << 63);
  }
};
template <bool kAbs>
void BindSign(Binder& b) {
  const Type type = b.type();
  if (type == Type::kF64) return b.Map(&Unary<SignF64<kAbs>, uint64_t, uint64_t>, type, {type});
  if (type != Type::kF32) return b.Unsupported();
  b.Map(b.Has("ftz") ? Eval(&Unary<SignF32<kAbs, true>, uint32_t, uint32_t>)
                     : Eval(&Unary<SignF32<kAbs, false>, uint32_t, uint32_t>),
        type, {type});
}

bool IsHalfType(Type t) {
  return t == Type::kF16 || t == Type::kF16x2 || t == Type::kBF16 || t == Type::kBF16x2;
}

}  // namespace

void BindAdd(Binder& b) {
  if (IsHalfType(b.type())) return b.type(1) == Type::kNone ? BindHalfAdd(b) : b.Unsupported();
  IsFloat(b.type()) ? BindArithmetic<AddF, 2>(b) : BindIntegerAdd(b);
}
void BindSub(Binder& b) {
  if (IsHalfType(b.type())) return BindHalfSub(b);
  IsFloat(b.type()) ? BindArithmetic<SubF, 2>(b) : BindIntegerSub(b);
}
void BindMul(Binder& b) {
  if (IsHalfType(b.type())) return BindHalfMul(b);
  IsFloat(b.type()) ? BindArithmetic<MulF, 2>(b) : BindIntegerMul(b);
}
void BindFma(Binder& b) { IsHalfType(b.type()) ? BindHalfFma(b) : BindArithmetic<FmaF, 3>(b); }
void BindMad(Binder& b) { IsFloat(b.type()) ? BindArithmetic<FmaF, 3>(b) : BindIntegerMad(b); }
void BindMin(Binder& b) {
  if (IsHalfType(b.type())) return BindHalfMinMax(b, false);
  IsFloat(b.type()) ? BindMinMax(b, false) : BindIntegerMin(b);
}
void BindMax(Binder& b) {
  if (IsHalfType(b.type())) return BindHalfMinMax(b, true);
  IsFloat(b.type()) ? BindMinMax(b, true) : BindIntegerMax(b);
}
void BindNeg(Binder& b) {
  if (IsHalfType(b.type())) return BindHalfSign(b, false);
  IsFloat(b.type()) ? BindSign<false>(b) : BindIntegerNeg(b);
}
void BindAbs(Binder& b) {
  if (IsHalfType(b.type())) return BindHalfSign(b, true);
  IsFloat(b.type()) ? BindSign<true>(b) : BindIntegerAbs(b);
}
void BindDiv(Binder& b) {
  if (!IsFloat(b.type())) return BindIntegerDiv(b);
  const bool flush = b.Has("ftz");
  const Type t = b.type();
  if (b.Has("approx") && t == Type::kF32)
    return b.Map(flush ? Eval(&Quotient<DivApprox, true>) : Eval(&Quotient<DivApprox, false>), t,
                 {t, t});
  if (b.Has("full") && t == Type::kF32)
    return b.Map(flush ? Eval(&Quotient<DivFull, true>) : Eval(&Quotient<DivFull, false>), t,
                 {t, t});
  BindArithmetic<DivF, 2>(b);
}
void BindRcp(Binder& b) {
  if (b.Has("approx") && b.type() == Type::kF64)
    return b.Map(&Unary<ApproximateF64<&MufuRcp64>, double, double>, Type::kF64, {Type::kF64});
  b.Has("approx") ? BindApproximate<&Kept::Rcp, &Flushed::Rcp>(b) : BindArithmetic<RcpF, 1>(b);
}
void BindSqrt(Binder& b) {
  b.Has("approx") ? BindApproximate<&Kept::Sqrt, &Flushed::Sqrt>(b) : BindArithmetic<SqrtF, 1>(b);
}
void BindRsqrt(Binder& b) {
  if (b.type() == Type::kF64) {
    if (b.Has("ftz"))
      return b.Map(&Unary<ApproximateF64<&MufuRsqrt64>, double, double>, Type::kF64, {Type::kF64});
    return b.Map(&Unary<RsqrtD, double, double>, Type::kF64, {Type::kF64});
  }
  BindApproximate<&Kept::Rsqrt, &Flushed::Rsqrt>(b);
}
void BindSin(Binder& b) { BindApproximate<&Kept::Sin, &Flushed::Sin>(b); }
void BindCos(Binder& b) { BindApproximate<&Kept::Cos, &Flushed::Cos>(b); }
void BindLg2(Binder& b) { BindApproximate<&Kept::Lg2, &Flushed::Lg2>(b); }
void BindEx2(Binder& b) {
  IsHalfType(b.type()) ? BindHalfEx2(b) : BindApproximate<&Kept::Ex2, &Flushed::Ex2>(b);
}
void BindTanh(Binder& b) {
  IsHalfType(b.type()) ? BindHalfTanh(b) : BindApproximate<&TanhA::Do, &TanhA::Do>(b);
}
void BindCopysign(Binder& b) {
  const Type t = b.type();
  b.Map(t == Type::kF64 ? Eval(&Binary<Copysign<double, uint64_t>, uint64_t, uint64_t, uint64_t>)
                        : Eval(&Binary<Copysign<float, uint32_t>, uint32_t, uint32_t, uint32_t>),
        t, {t, t});
}
void BindTestp(Binder& b) {
  b.Map(b.type() == Type::kF64 ? TestOf<double>(b) : TestOf<float>(b), Type::kPred, {b.type()});
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
