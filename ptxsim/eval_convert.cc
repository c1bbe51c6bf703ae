// cvt: ISA, "Data Movement and Conversion Instructions: cvt" and "cvt.pack".
#include <algorithm>
#include <cmath>
#include <limits>

#include "ptxsim/bind_internal.h"
#include "ptxsim/lanes.h"
#include "ptxsim/rounding.h"

namespace hlokit::ptx {
namespace {

enum ConvertFlags : uint32_t { kFtz = 1, kSat = 2, kRelu = 4, kToIntegral = 8, kSatFinite = 16 };

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
  }
  std::copy_n(values, kLanes, d);
}

// Float to integer: out of range values give the nearest bound, NaN gives 0 (ISA, cvt).
template <typename R>
R Clamped(double x, Rounding rounding) {
  if (x != x) return 0;
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
    values[i] = Clamped<R>(x, rounding);
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

Rounding RoundingOf(const Binder& b) {
  if (b.Has("rz") || b.Has("rzi")) return Rounding::kZero;
  if (b.Has("rm") || b.Has("rmi")) return Rounding::kDown;
  if (b.Has("rp") || b.Has("rpi")) return Rounding::kUp;
  if (b.Has("rna")) return Rounding::kNearestAway;
  return Rounding::kNearest;
}
bool HasIntegral(const Binder& b) {
  return b.Has("rni") || b.Has("rzi") || b.Has("rmi") || b.Has("rpi");
}

// Narrow formats in packs.
struct PackedType {
  Type type;
  const Format* format;
  int bits;  // of an element in its register
};
constexpr PackedType kPacked[] = {
    {Type::kF16x2, &kFormatF16, 16},  {Type::kBF16x2, &kFormatBF16, 16},
    {Type::kE4M3x2, &kFormatE4M3, 8}, {Type::kE5M2x2, &kFormatE5M2, 8},
    {Type::kE2M1x2, &kFormatE2M1, 4}, {Type::kE3M2x2, &kFormatE3M2, 8},
    {Type::kE2M3x2, &kFormatE2M3, 8},
};
const PackedType* PackedOf(Type type) {
  for (const PackedType& row : kPacked)
    if (row.type == type) return &row;
  return nullptr;
}
bool HasNan(const Format& format) { return format.nan != format.max_bits; }

uint32_t Narrow(double x, const PackedType& to, Rounding rounding, uint32_t flags) {
  if ((flags & kRelu) && (x < 0 || x == 0)) x = 0;
  // Formats without NaN take the largest value for it.
  if (x != x && !HasNan(*to.format)) return to.format->max_bits;
  if (x != x && to.type == Type::kE5M2x2) return 0x7f;
  return RoundToFormat(x, *to.format, rounding, flags & kSatFinite);
}

// Two f32 into a pack: a is the upper half.
void PackFloats(const Op& op, std::byte* frame, void* result) {
  const PackedType& to = kPacked[op.offset];
  const float* a = In<float>(frame, op.a);
  const float* b = In<float>(frame, op.b);
  const auto rounding = static_cast<Rounding>(op.mode);
  uint32_t values[kLanes];
  for (int i = 0; i < kLanes; ++i)
    values[i] =
        Narrow(a[i], to, rounding, op.flags) << to.bits | Narrow(b[i], to, rounding, op.flags);
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(static_cast<std::byte*>(result) + i * op.result_bytes, &values[i], op.result_bytes);
}
// A pack into another.
void PackToPack(const Op& op, std::byte* frame, void* result) {
  const PackedType& to = kPacked[op.offset & 0xff];
  const PackedType& from = kPacked[op.offset >> 8];
  const auto from_bytes = static_cast<size_t>(std::max(1, from.bits / 4));
  const auto rounding = static_cast<Rounding>(op.mode);
  const uint32_t field = (1u << from.bits) - 1;
  uint32_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, frame + op.a + i * from_bytes, from_bytes);
    values[i] = 0;
    for (int part = 0; part < 2; ++part)
      values[i] |= Narrow(ValueOfFormat(bits >> part * from.bits & field, *from.format), to,
                          rounding, op.flags)
                   << part * to.bits;
  }
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(static_cast<std::byte*>(result) + i * op.result_bytes, &values[i], op.result_bytes);
}

void ToTf32(const Op& op, std::byte* frame, void* result) {
  const float* a = In<float>(frame, op.a);
  uint32_t* d = static_cast<uint32_t*>(result);
  for (int i = 0; i < kLanes; ++i) {
    double x = a[i];
    if ((op.flags & kRelu) && (x < 0 || x == 0)) x = 0;
    d[i] =
        x != x
            ? 0x7fffffffu
            : RoundToFormat(x, kFormatTF32, static_cast<Rounding>(op.mode), op.flags & kSatFinite)
                  << 13;
  }
}

// ue8m0 is a power of two: its exponent, biased by 127; 255 is NaN.
uint32_t PowerOfTwo(double x, bool up) {
  if (x != x) return 0xff;
  x = std::fabs(x);
  if (x < 0x1p-127) return up && x > 0 ? 0 : 0;
  int exponent = std::ilogb(x);
  if (up && std::ldexp(1.0, exponent) < x) ++exponent;
  return static_cast<uint32_t>(std::clamp(exponent + 127, 0, 254));
}
void PackPowers(const Op& op, std::byte* frame, void* result) {
  const bool up = static_cast<Rounding>(op.mode) == Rounding::kUp;
  uint16_t* d = static_cast<uint16_t*>(result);
  uint16_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const bool brains = op.offset != 0;
    const uint32_t pack = brains ? In<uint32_t>(frame, op.a)[i] : 0;
    const double high = brains ? BF16Value(uint16_t(pack >> 16)) : In<float>(frame, op.a)[i];
    const double low = brains ? BF16Value(uint16_t(pack)) : In<float>(frame, op.b)[i];
    values[i] = uint16_t(PowerOfTwo(high, up) << 8 | PowerOfTwo(low, up));
  }
  std::copy_n(values, kLanes, d);
}
void UnpackPowers(const Op& op, std::byte* frame, void* result) {
  const uint16_t* a = In<uint16_t>(frame, op.a);
  uint32_t values[kLanes];
  const auto brain = [](uint32_t e) -> uint32_t {
    return e == 0xff ? 0x7fff : RoundToBF16(std::ldexp(1.0, int(e) - 127));
  };
  for (int i = 0; i < kLanes; ++i) values[i] = brain(a[i] >> 8) << 16 | brain(a[i] & 0xff);
  std::copy_n(values, kLanes, static_cast<uint32_t*>(result));
}

uint32_t FlagsOf(const Binder& b) {
  return When(b.Has("ftz"), kFtz) | When(b.Has("sat"), kSat) | When(b.Has("relu"), kRelu) |
         When(HasIntegral(b), kToIntegral) | When(b.Has("satfinite"), kSatFinite);
}

void BindPacked(Binder& b, Type to, Type from) {
  const PackedType* result = PackedOf(to);
  const PackedType* source = PackedOf(from);
  Op op = b.MakeEval(nullptr, to, 0);
  op.mode = static_cast<uint8_t>(RoundingOf(b));
  op.flags = FlagsOf(b);
  if (to == Type::kUE8M0x2 && (from == Type::kF32 || from == Type::kBF16x2)) {
    op.eval = &PackPowers;
    op.offset = from == Type::kBF16x2;
  } else if (to == Type::kBF16x2 && from == Type::kUE8M0x2) {
    op.eval = &UnpackPowers;
  } else if (result != nullptr && from == Type::kF32 && b.size() == 3) {
    op.eval = &PackFloats;
    op.offset = result - kPacked;
  } else if (result != nullptr && source != nullptr) {
    op.eval = &PackToPack;
    op.offset = (result - kPacked) | (source - kPacked) << 8;
  } else {
    return b.Unsupported();
  }
  op.a = b.Source(1, from);
  if (b.size() == 3) op.b = b.Source(2, from);
  op.d = b.Result(0, to);
  if (!b.failed()) b.Emit(op);
}

// cvt.pack.sat: two s32 saturated to narrow integers above what c holds.
template <typename T, int kBits>
struct PackIntegers {
  static uint32_t Do(int32_t a, int32_t b, uint32_t c) {
    const int64_t min = std::is_signed_v<T> ? -(int64_t{1} << (kBits - 1)) : 0;
    const int64_t max =
        std::is_signed_v<T> ? (int64_t{1} << (kBits - 1)) - 1 : (int64_t{1} << kBits) - 1;
    const auto field = [&](int64_t x) {
      return uint32_t(std::clamp(x, min, max)) & uint32_t((uint64_t{1} << kBits) - 1);
    };
    const uint32_t pair = field(a) << kBits | field(b);
    return kBits == 16 ? pair : c << 2 * kBits | pair;
  }
};
void BindCvtPack(Binder& b) {
  Eval eval = nullptr;
  switch (b.type(0)) {
    case Type::kU16:
      eval = &Ternary<PackIntegers<uint16_t, 16>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    case Type::kS16:
      eval = &Ternary<PackIntegers<int16_t, 16>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    case Type::kU8:
      eval = &Ternary<PackIntegers<uint8_t, 8>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    case Type::kS8:
      eval = &Ternary<PackIntegers<int8_t, 8>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    case Type::kU4:
      eval = &Ternary<PackIntegers<uint8_t, 4>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    case Type::kS4:
      eval = &Ternary<PackIntegers<int8_t, 4>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    case Type::kU2:
      eval = &Ternary<PackIntegers<uint8_t, 2>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    case Type::kS2:
      eval = &Ternary<PackIntegers<int8_t, 2>, uint32_t, int32_t, int32_t, uint32_t>;
      break;
    default:
      return b.Unsupported();
  }
  Op op = b.MakeEval(eval, Type::kB32, 0);
  op.a = b.Source(1, Type::kS32);
  op.b = b.Source(2, Type::kS32);
  op.c = b.size() > 3 ? b.Source(3, Type::kB32) : b.Constant(0, 4);
  op.d = b.Result(0, Type::kB32);
  if (!b.failed()) b.Emit(op);
}

}  // namespace

void BindCvt(Binder& b) {
  const Type to = b.type(0), from = b.type(1);
  if (b.Has("pack")) return BindCvtPack(b);
  if (b.Has("rs") || b.Has("scaled")) return b.Unsupported();
  if (to == Type::kTF32) {
    Op op = b.MakeEval(&ToTf32, Type::kB32, 0);
    op.mode = static_cast<uint8_t>(RoundingOf(b));
    op.flags = FlagsOf(b);
    op.a = b.Source(1, Type::kF32);
    op.d = b.Result(0, Type::kB32);
    if (!b.failed()) b.Emit(op);
    return;
  }
  if (PackedOf(to) != nullptr || PackedOf(from) != nullptr || to == Type::kUE8M0x2)
    return BindPacked(b, to, from);
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
