// cvt of single values: ISA, "Data Movement and Conversion Instructions: cvt". Packs are
// eval_packs.cc's.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ptxsim/convert_internal.h"
#include "ptxsim/lanes.h"
#include "ptxsim/rounding.h"

namespace hlokit::ptx {
namespace {

// A column's lanes as C++ values; the float types of C++ stand for themselves.
struct HalfBits {
  uint16_t bits;
};
struct BrainBits {
  uint16_t bits;
};

double Load(float x) { return x; }
double Load(double x) { return x; }
double Load(HalfBits x) { return F16Value(x.bits); }
double Load(BrainBits x) { return BF16Value(x.bits); }

float Narrowed(double x, Rounding rounding) {
  const float nearest = static_cast<float>(x);
  if (rounding == Rounding::kNearest || double(nearest) == x || x != x) return nearest;
  const bool above = nearest > x;
  const bool wants_above = rounding == Rounding::kUp || (rounding == Rounding::kZero && x < 0);
  if (above == wants_above) return nearest;
  return std::nextafter(nearest, above ? -HUGE_VALF : HUGE_VALF);
}

template <typename R>
R Store(double x, Rounding rounding, bool saturate);
template <>
float Store(double x, Rounding rounding, bool) {
  return CanonicalNan(Narrowed(x, rounding));
}
template <>
double Store(double x, Rounding, bool) {
  return x;
}
template <>
HalfBits Store(double x, Rounding rounding, bool saturate) {
  if (rounding == Rounding::kNearest && !saturate) return {RoundToF16(x)};
  return {uint16_t(RoundToFormat(x, kFormatF16, rounding, saturate))};
}
template <>
BrainBits Store(double x, Rounding rounding, bool saturate) {
  if (rounding == Rounding::kNearest && !saturate) return {RoundToBF16(x)};
  return {uint16_t(RoundToFormat(x, kFormatBF16, rounding, saturate))};
}

// Rounded to an integer in the mode: .rni, .rzi, .rmi, .rpi.
double ToIntegral(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(x);
    case Rounding::kDown:
      return std::floor(x);
    case Rounding::kUp:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

template <typename T>
bool IsSubnormalF32(T) {
  return false;
}
bool IsSubnormalF32(float x) { return x != 0 && std::fabs(x) < 0x1p-126f; }

// The result for a NaN, as an H200 gives it: one of f64 keeps its sign and upper payload, quiet;
// one of f32 or bf16 keeps its bits where nothing but the width changes; else it is the one NaN,
// which Store has made.
template <typename R, typename A>
R NanResult(A a, R stored, uint32_t flags) {
  if constexpr (std::is_same_v<A, double>) {
    const uint64_t bits = std::bit_cast<uint64_t>(a) | uint64_t{1} << 51;
    const auto sign = static_cast<uint32_t>(bits >> 63);
    if constexpr (std::is_same_v<R, double>) return std::bit_cast<double>(bits);
    if constexpr (std::is_same_v<R, float>)
      return std::bit_cast<float>(sign << 31 | 0x7f800000u | uint32_t(bits >> 29 & 0x7fffff));
    if constexpr (std::is_same_v<R, HalfBits>)
      return R{static_cast<uint16_t>(sign << 15 | 0x7c00u | uint32_t(bits >> 42 & 0x3ff))};
    if constexpr (std::is_same_v<R, BrainBits>)
      return R{static_cast<uint16_t>(sign << 15 | 0x7f80u | uint32_t(bits >> 45 & 0x7f))};
  } else if constexpr (std::is_same_v<R, float>) {
    if (flags & (kFtz | kToIntegral)) return stored;
    if constexpr (std::is_same_v<A, float>) return a;
    if constexpr (std::is_same_v<A, BrainBits>) return std::bit_cast<float>(uint32_t{a.bits} << 16);
  } else if constexpr (std::is_same_v<R, double> && std::is_same_v<A, float>) {
    if (flags & kFtz) return std::bit_cast<double>(uint64_t{0x7fffffffe0000000});
  }
  return stored;
}

template <typename R, typename A>
void FloatToFloat(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  R* d = static_cast<R*>(result);
  const auto rounding = static_cast<Rounding>(op.mode);
  const uint32_t flags = op.flags;
  R values[kLanes];  // the result may lie over a wider operand
  for (int i = 0; i < kLanes; ++i) {
    double x = Load(a[i]);
    if ((flags & kFtz) && IsSubnormalF32(a[i])) x = std::copysign(0.0, x);
    if (flags & kToIntegral) x = ToIntegral(x, rounding);
    if (flags & kSat) x = x > 0 ? std::min(x, 1.0) : 0.0;
    if ((flags & kRelu) && (x < 0 || x == 0)) x = 0;
    values[i] =
        Store<R>(x, (flags & kToIntegral) ? Rounding::kNearest : rounding, flags & kSatFinite);
    if constexpr (std::is_same_v<R, float>)
      if (flags & kFtz) values[i] = FlushF32(values[i]);
    if (x != x && !(flags & kSatFinite)) values[i] = NanResult<R, A>(a[i], values[i], flags);
  }
  std::copy_n(values, kLanes, d);
}

// Float to integer: out of range values give the nearest bound. NaN gives 0, but the integer with
// the highest bit alone where either side has 64 bits (ISA, cvt).
template <typename R, typename A>
R Clamped(double x, Rounding rounding) {
  constexpr bool kWide = sizeof(R) == 8 || std::is_same_v<A, double>;
  if (x != x) return kWide ? static_cast<R>(uint64_t{1} << (8 * sizeof(R) - 1)) : R(0);
  x = ToIntegral(x, rounding);
  constexpr R kMin = std::numeric_limits<R>::min(), kMax = std::numeric_limits<R>::max();
  if (x <= double(kMin)) return kMin;
  if (x >= double(kMax)) return kMax;  // double(kMax) of 64 bits is one above it
  return static_cast<R>(x);
}
template <typename R, typename A>
void FloatToInteger(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  R* d = static_cast<R*>(result);
  const auto rounding = static_cast<Rounding>(op.mode);
  R values[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    double x = Load(a[i]);
    if ((op.flags & kFtz) && IsSubnormalF32(a[i])) x = std::copysign(0.0, x);
    values[i] = Clamped<R, A>(x, rounding);
  }
  std::copy_n(values, kLanes, d);
}

// An integer as a double, rounded to odd: exact for what follows.
template <typename A>
double OddDouble(A a) {
  const double x = static_cast<double>(a);
  if constexpr (sizeof(A) == 8) {
    const auto back = static_cast<__int128>(x) - static_cast<__int128>(a);
    if (back == 0) return x;
    uint64_t bits = std::bit_cast<uint64_t>(x);
    if (!(bits & 1)) bits += (back > 0) == (x > 0) ? -1 : 1;
    return std::bit_cast<double>(bits);
  }
  return x;
}
template <typename R, typename A>
void IntegerToFloat(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  R* d = static_cast<R*>(result);
  const auto rounding = static_cast<Rounding>(op.mode);
  R values[kLanes];
  if constexpr (std::is_same_v<R, double>) {
    const RoundingScope scope(rounding);
    for (int i = 0; i < kLanes; ++i) values[i] = static_cast<double>(a[i]);
    std::copy_n(values, kLanes, d);
    return;
  }
  for (int i = 0; i < kLanes; ++i) {
    double x = OddDouble(a[i]);
    if (op.flags & kSat) x = std::clamp(x, 0.0, 1.0);
    values[i] = Store<R>(x, rounding, false);
  }
  std::copy_n(values, kLanes, d);
}
// The common conversions, without choices inside the loop.
template <typename R, typename A>
void Plain(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  R* d = static_cast<R*>(result);
  if constexpr (sizeof(R) == sizeof(A)) {
    HLOKIT_LANES(i) d[i] = static_cast<R>(a[i]);
  } else {
    R values[kLanes];
    for (int i = 0; i < kLanes; ++i) values[i] = static_cast<R>(a[i]);
    std::copy_n(values, kLanes, d);
  }
}
template <typename R, typename A>
void Saturated(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  R* d = static_cast<R*>(result);
  R values[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const auto x = static_cast<__int128>(a[i]);
    values[i] = static_cast<R>(
        std::clamp<__int128>(x, std::numeric_limits<R>::min(), std::numeric_limits<R>::max()));
  }
  std::copy_n(values, kLanes, d);
}

// f(From{}, To{}) for the C++ types of both.
template <typename F>
Eval ForFloat(Type type, F f) {
  switch (type) {
    case Type::kF32:
      return f(float{});
    case Type::kF64:
      return f(double{});
    case Type::kF16:
      return f(HalfBits{});
    case Type::kBF16:
      return f(BrainBits{});
    default:
      return nullptr;
  }
}

Eval ConvertOf(Type to, Type from, bool saturate) {
  if (IsFloat(to) && IsFloat(from))
    return ForFloat(to, [&]<typename R>(R) {
      return ForFloat(from, []<typename A>(A) -> Eval { return &FloatToFloat<R, A>; });
    });
  if (IsFloat(to))
    return ForFloat(to, [&]<typename R>(R) {
      return ForInteger(from, []<typename A>(A) -> Eval { return &IntegerToFloat<R, A>; });
    });
  if (IsFloat(from))
    return ForInteger(to, [&]<typename R>(R) {
      return ForFloat(from, []<typename A>(A) -> Eval { return &FloatToInteger<R, A>; });
    });
  return ForInteger(to, [&]<typename R>(R) {
    return ForInteger(
        from, [&]<typename A>(A) -> Eval { return saturate ? &Saturated<R, A> : &Plain<R, A>; });
  });
}

}  // namespace

void BindCvt(Binder& b) {
  const Type to = b.type(0), from = b.type(1);
  if (BindPackedCvt(b)) return;
  Op op = b.MakeEval(ConvertOf(to, from, b.Has("sat")), to, 0);
  if (op.eval == nullptr) return b.Unsupported();
  op.mode = static_cast<uint8_t>(RoundingOf(b));
  op.flags = FlagsOf(b);
  // Of a conversion between floats of one width without a mode, the value is kept.
  op.a = b.Source(1, from);
  op.d = b.Result(0, to);
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
