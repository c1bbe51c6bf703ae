// Integer arithmetic: ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
// Arithmetic Instructions". Each struct is one operation on one lane; templates run it over the
// columns of a warp. Results wrap modulo 2^width, unless .sat is given.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "ptxsim/bind_internal.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {
namespace {

// The unsigned type that wraps without a promotion to int.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
template <typename T>
using Wider = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

template <typename T>
struct Add {
  static T Do(T a, T b) { return T(Wrapping<T>(a) + Wrapping<T>(b)); }
};
template <typename T>
struct Sub {
  static T Do(T a, T b) { return T(Wrapping<T>(a) - Wrapping<T>(b)); }
};
// mul.lo: the lower half of the product.
template <typename T>
struct MulLow {
  static T Do(T a, T b) { return T(Wrapping<T>(a) * Wrapping<T>(b)); }
};
// mul.hi: the upper half of the product.
template <typename T>
struct MulHigh {
  static T Do(T a, T b) { return T((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T))); }
};
// mul.wide: the whole product, twice as wide as the operands.
template <typename T>
struct MulWide {
  static Wider<T> Do(T a, T b) { return Wider<T>(a) * Wider<T>(b); }
};
// mad.lo: a * b + c, the lower half of the product.
template <typename T>
struct MadLow {
  static T Do(T a, T b, T c) { return Add<T>::Do(MulLow<T>::Do(a, b), c); }
};
// mad.hi: the upper half of a * b, plus c.
template <typename T>
struct MadHigh {
  static T Do(T a, T b, T c) { return Add<T>::Do(MulHigh<T>::Do(a, b), c); }
};
// mad.wide: a * b + c with a product and c twice as wide.
template <typename T>
struct MadWide {
  static Wider<T> Do(T a, T b, Wider<T> c) { return Add<Wider<T>>::Do(MulWide<T>::Do(a, b), c); }
};
// add.sat.s32: clamped to the range of s32.
template <typename T>
struct AddSat {
  static T Do(T a, T b) {
    return T(std::clamp<int64_t>(int64_t{a} + b, std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
  }
};
// sub.sat.s32: clamped to the range of s32.
template <typename T>
struct SubSat {
  static T Do(T a, T b) {
    return T(std::clamp<int64_t>(int64_t{a} - b, std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
  }
};
// mad.hi.sat.s32: the upper half of a * b plus c, clamped.
template <typename T>
struct MadHighSat {
  static T Do(T a, T b, T c) { return AddSat<T>::Do(MulHigh<T>::Do(a, b), c); }
};
// Division by zero gives all ones, as GPUs do; PTX leaves it open.
template <typename T>
struct Div {
  static T Do(T a, T b) {
    if (b == 0) return T(-1);
    if (std::is_signed_v<T> && b == T(-1)) return Sub<T>::Do(0, a);
    return T(a / b);
  }
};
// Remainder with the dividend's sign, a - b * trunc(a / b). Of a division by zero an H200 gives
// ones, but a for 64 bits.
template <typename T>
struct Rem {
  static T Do(T a, T b) {
    if (b == 0) return sizeof(T) == 8 ? a : T(-1);
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return T(a % b);
  }
};
template <typename T>
struct Min {
  static T Do(T a, T b) { return a < b ? a : b; }
};
template <typename T>
struct Max {
  static T Do(T a, T b) { return a > b ? a : b; }
};
template <typename T>
struct Neg {
  static T Do(T a) { return Sub<T>::Do(0, a); }
};
// abs: of the lowest value it is that value again.
template <typename T>
struct Abs {
  static T Do(T a) { return a < 0 ? Sub<T>::Do(0, a) : a; }
};
// max(x, 0).
template <typename T>
struct Relu {
  static T Do(T a) { return a < 0 ? T(0) : a; }
};
// sad: c + |a - b|.
template <typename T>
struct Sad {
  static T Do(T a, T b, T c) { return Add<T>::Do(c, a < b ? Sub<T>::Do(b, a) : Sub<T>::Do(a, b)); }
};
// 24-bit products of 32-bit operands.
template <typename T>
int64_t Product24(T a, T b) {
  if (std::is_signed_v<T>)
    return int64_t{int32_t(uint32_t(a) << 8) >> 8} * (int32_t(uint32_t(b) << 8) >> 8);
  return int64_t(a & 0xffffff) * int64_t(b & 0xffffff);
}
// mul24.lo: the lower 32 of the product's 48 bits.
template <typename T>
struct Mul24Low {
  static T Do(T a, T b) { return T(Product24(a, b)); }
};
// mul24.hi: the upper 32 of the product's 48 bits.
template <typename T>
struct Mul24High {
  static T Do(T a, T b) { return T(Product24(a, b) >> 16); }
};
// mad24.lo: mul24.lo plus c.
template <typename T>
struct Mad24Low {
  static T Do(T a, T b, T c) { return Add<T>::Do(T(Product24(a, b)), c); }
};
// mad24.hi: mul24.hi plus c.
template <typename T>
struct Mad24High {
  static T Do(T a, T b, T c) { return Add<T>::Do(T(Product24(a, b) >> 16), c); }
};

// mad24.hi.sat.s32: the sum clamped to 32 bits.
struct Mad24HighSaturated {
  static int32_t Do(int32_t a, int32_t b, int32_t c) {
    const int64_t sum = int64_t{int32_t(Product24(a, b) >> 16)} + c;
    return int32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  }
};

// Byte i of x as a lane of type T.
template <typename T>
int32_t Byte(uint32_t x, int i) {
  return T(x >> 8 * i);
}
// c plus the dot product of four bytes each.
template <typename A, typename B>
struct Dp4a {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; ++i) c += uint32_t(Byte<A>(a, i) * Byte<B>(b, i));
    return c;
  }
};
// c plus the dot product of two halves of a and two bytes of b.
template <typename A, typename B, bool kHigh>
struct Dp2a {
  using A2 = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 2; ++i)
      c += uint32_t(int32_t(A2(a >> 16 * i)) * Byte<B>(b, i + (kHigh ? 2 : 0)));
    return c;
  }
};

// 16-bit halves of a word.
template <typename T, template <typename> class F>
struct Halves {
  static uint32_t Do(uint32_t a, uint32_t b) {
    const T low = F<T>::Do(T(a), T(b)), high = F<T>::Do(T(a >> 16), T(b >> 16));
    return uint32_t(uint16_t(low)) | uint32_t(uint16_t(high)) << 16;
  }
};

template <template <typename> class F>
Eval BinaryOf(Type type) {
  return ForInteger(type, []<typename T>(T) -> Eval { return &Binary<F<T>, T, T, T>; });
}
template <template <typename> class F>
Eval TernaryOf(Type type) {
  return ForInteger(type, []<typename T>(T) -> Eval { return &Ternary<F<T>, T, T, T, T>; });
}
template <template <typename> class F>
Eval UnaryOf(Type type) {
  return ForInteger(type, []<typename T>(T) -> Eval { return &Unary<F<T>, T, T>; });
}
template <template <typename> class F>
Eval HalvesOf(Type type) {
  if (type == Type::kU16x2) return &Binary<Halves<uint16_t, F>, uint32_t, uint32_t, uint32_t>;
  if (type == Type::kS16x2) return &Binary<Halves<int16_t, F>, uint32_t, uint32_t, uint32_t>;
  return nullptr;
}
bool IsHalves(Type type) { return type == Type::kU16x2 || type == Type::kS16x2; }

Type WideOf(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return Type::kNone;
  }
}

template <template <typename> class F>
void BindTwo(Binder& b) {
  const Type type = b.type();
  b.Map(IsHalves(type) ? HalvesOf<F>(type) : BinaryOf<F>(type), type, {type, type});
}

// With a carry: what is added, and whether the operation reads (C) and writes (CC) the carry.
struct CarryMode {
  enum Kind : uint8_t { kAdd, kSub, kMadLow, kMadHigh };
};

// add.cc, addc, sub.cc, subc: the carry is a column of the thread's frame, a bit for each lane.
template <typename T>
void RunCarry(const Op& op, Warp& warp, LaneMask mask) {
  using U = std::make_unsigned_t<T>;
  std::byte* frame = warp.frame();
  const T* a = In<T>(frame, op.a);
  const T* b = In<T>(frame, op.b);
  const T* c = In<T>(frame, op.c);
  T* d = Out<T>(frame, op.d);
  LaneMask& carry = *Out<LaneMask>(frame, op.e);
  const bool reads = op.flags & 1, writes = op.flags & 2;
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    const unsigned in = reads ? carry >> i & 1 : 0;
    unsigned __int128 sum;
    if (op.mode == CarryMode::kAdd) {
      sum = (unsigned __int128)(U(a[i])) + U(b[i]) + in;
    } else if (op.mode == CarryMode::kSub) {
      // The flag is the carry of a + ~b + 1, so set where nothing was borrowed: nvcc's division of
      // 128-bit integers reads it with addc.
      sum = (unsigned __int128)(U(a[i])) + U(~U(b[i])) + (reads ? in : 1);
    } else {
      const T product =
          op.mode == CarryMode::kMadLow ? MulLow<T>::Do(a[i], b[i]) : MulHigh<T>::Do(a[i], b[i]);
      sum = (unsigned __int128)(U(product)) + U(c[i]) + in;
    }
    d[i] = T(U(sum));
    const bool out = sum >> (8 * sizeof(T)) & 1;
    if (writes) carry = (carry & ~(LaneMask{1} << i)) | LaneMask{out} << i;
  }
}

void BindCarry(Binder& b, CarryMode::Kind kind, bool reads) {
  const Type type = b.type();
  Exec exec = nullptr;
  if (type == Type::kU32 || type == Type::kB32) exec = &RunCarry<uint32_t>;
  if (type == Type::kS32) exec = &RunCarry<int32_t>;
  if (type == Type::kU64) exec = &RunCarry<uint64_t>;
  if (type == Type::kS64) exec = &RunCarry<int64_t>;
  if (exec == nullptr) return b.Unsupported();
  Op op = b.MakeExec(exec);
  op.mode = kind;
  op.flags = (reads ? 1 : 0) | (b.Has("cc") ? 2 : 0);
  op.a = b.Source(1, type);
  op.b = b.Source(2, type);
  if (b.size() > 3) op.c = b.Source(3, type);
  op.d = b.Result(0, type);
  op.e = b.CarryColumn();
  if (!b.failed()) b.Emit(op);
}

template <typename A>
Eval Dp4aOf(bool b_signed) {
  return b_signed ? Eval(&Ternary<Dp4a<A, int8_t>, uint32_t, uint32_t, uint32_t, uint32_t>)
                  : Eval(&Ternary<Dp4a<A, uint8_t>, uint32_t, uint32_t, uint32_t, uint32_t>);
}
template <typename A, typename B>
Eval Dp2aOf(bool high) {
  return high ? Eval(&Ternary<Dp2a<A, B, true>, uint32_t, uint32_t, uint32_t, uint32_t>)
              : Eval(&Ternary<Dp2a<A, B, false>, uint32_t, uint32_t, uint32_t, uint32_t>);
}

}  // namespace

void BindIntegerAdd(Binder& b) {
  if (b.Has("cc")) return BindCarry(b, CarryMode::kAdd, false);
  if (b.Has("sat")) {
    if (b.type() != Type::kS32) return b.Unsupported();
    return b.Map(&Binary<AddSat<int32_t>, int32_t, int32_t, int32_t>, Type::kS32,
                 {Type::kS32, Type::kS32});
  }
  BindTwo<Add>(b);
}
void BindIntegerSub(Binder& b) {
  if (b.Has("cc")) return BindCarry(b, CarryMode::kSub, false);
  if (b.Has("sat")) {
    if (b.type() != Type::kS32) return b.Unsupported();
    return b.Map(&Binary<SubSat<int32_t>, int32_t, int32_t, int32_t>, Type::kS32,
                 {Type::kS32, Type::kS32});
  }
  BindTwo<Sub>(b);
}
void BindAddc(Binder& b) { BindCarry(b, CarryMode::kAdd, true); }
void BindSubc(Binder& b) { BindCarry(b, CarryMode::kSub, true); }
void BindMadc(Binder& b) {
  BindCarry(b, b.Has("hi") ? CarryMode::kMadHigh : CarryMode::kMadLow, true);
}

void BindIntegerMul(Binder& b) {
  const Type type = b.type();
  if (b.Has("hi")) return BindTwo<MulHigh>(b);
  if (b.Has("lo")) return BindTwo<MulLow>(b);
  if (!b.Has("wide")) return b.Unsupported();
  Eval eval = nullptr;
  switch (type) {
    case Type::kU16:
      eval = &Binary<MulWide<uint16_t>, uint32_t, uint16_t, uint16_t>;
      break;
    case Type::kS16:
      eval = &Binary<MulWide<int16_t>, int32_t, int16_t, int16_t>;
      break;
    case Type::kU32:
      eval = &Binary<MulWide<uint32_t>, uint64_t, uint32_t, uint32_t>;
      break;
    case Type::kS32:
      eval = &Binary<MulWide<int32_t>, int64_t, int32_t, int32_t>;
      break;
    default:
      return b.Unsupported();
  }
  b.Map(eval, WideOf(type), {type, type});
}

void BindIntegerMad(Binder& b) {
  const Type type = b.type();
  if (b.Has("cc"))
    return BindCarry(b, b.Has("hi") ? CarryMode::kMadHigh : CarryMode::kMadLow, false);
  if (b.Has("sat")) {
    if (type != Type::kS32 || !b.Has("hi")) return b.Unsupported();
    return b.Map(&Ternary<MadHighSat<int32_t>, int32_t, int32_t, int32_t, int32_t>, type,
                 {type, type, type});
  }
  if (b.Has("hi")) return b.Map(TernaryOf<MadHigh>(type), type, {type, type, type});
  if (b.Has("lo")) return b.Map(TernaryOf<MadLow>(type), type, {type, type, type});
  if (!b.Has("wide")) return b.Unsupported();
  Eval eval = nullptr;
  switch (type) {
    case Type::kU16:
      eval = &Ternary<MadWide<uint16_t>, uint32_t, uint16_t, uint16_t, uint32_t>;
      break;
    case Type::kS16:
      eval = &Ternary<MadWide<int16_t>, int32_t, int16_t, int16_t, int32_t>;
      break;
    case Type::kU32:
      eval = &Ternary<MadWide<uint32_t>, uint64_t, uint32_t, uint32_t, uint64_t>;
      break;
    case Type::kS32:
      eval = &Ternary<MadWide<int32_t>, int64_t, int32_t, int32_t, int64_t>;
      break;
    default:
      return b.Unsupported();
  }
  b.Map(eval, WideOf(type), {type, type, WideOf(type)});
}

void BindMul24(Binder& b) {
  const bool high = b.Has("hi");
  const Type t = b.type();
  if (t == Type::kS32)
    return b.Map(high ? Eval(&Binary<Mul24High<int32_t>, int32_t, int32_t, int32_t>)
                      : Eval(&Binary<Mul24Low<int32_t>, int32_t, int32_t, int32_t>),
                 t, {t, t});
  b.Map(high ? Eval(&Binary<Mul24High<uint32_t>, uint32_t, uint32_t, uint32_t>)
             : Eval(&Binary<Mul24Low<uint32_t>, uint32_t, uint32_t, uint32_t>),
        t, {t, t});
}
void BindMad24(Binder& b) {
  const bool high = b.Has("hi");
  const Type t = b.type();
  if (b.Has("sat"))
    return high && t == Type::kS32
               ? b.Map(&Ternary<Mad24HighSaturated, int32_t, int32_t, int32_t, int32_t>, t,
                       {t, t, t})
               : b.Unsupported();
  if (t == Type::kS32)
    return b.Map(high ? Eval(&Ternary<Mad24High<int32_t>, int32_t, int32_t, int32_t, int32_t>)
                      : Eval(&Ternary<Mad24Low<int32_t>, int32_t, int32_t, int32_t, int32_t>),
                 t, {t, t, t});
  b.Map(high ? Eval(&Ternary<Mad24High<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t>)
             : Eval(&Ternary<Mad24Low<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t>),
        t, {t, t, t});
}

void BindSad(Binder& b) {
  b.Map(TernaryOf<Sad>(b.type()), b.type(), {b.type(), b.type(), b.type()});
}
void BindIntegerDiv(Binder& b) { BindTwo<Div>(b); }
void BindRem(Binder& b) { BindTwo<Rem>(b); }
void BindIntegerMin(Binder& b) {
  BindTwo<Min>(b);
  if (b.Has("relu")) BindReluOf(b);
}
void BindIntegerMax(Binder& b) {
  BindTwo<Max>(b);
  if (b.Has("relu")) BindReluOf(b);
}

namespace {
struct HalvesRelu {
  static uint32_t Do(uint32_t a) {
    return (a & 0x8000 ? 0 : a & 0xffff) | (a & 0x80000000u ? 0 : a & 0xffff0000u);
  }
};
}  // namespace

// Maps the result again, in place.
void BindReluOf(Binder& b) {
  const Type type = b.type();
  const Eval eval = type == Type::kS32     ? Eval(&Unary<Relu<int32_t>, int32_t, int32_t>)
                    : type == Type::kS16x2 ? Eval(&Unary<HalvesRelu, uint32_t, uint32_t>)
                                           : nullptr;
  if (eval == nullptr) return b.Unsupported();
  Op op = b.MakeEval(eval, type, b.Result(0, type));
  op.a = op.d;
  if (!b.failed()) b.Emit(op);
}

void BindIntegerNeg(Binder& b) { b.Map(UnaryOf<Neg>(b.type()), b.type(), {b.type()}); }
void BindIntegerAbs(Binder& b) { b.Map(UnaryOf<Abs>(b.type()), b.type(), {b.type()}); }

void BindDp4a(Binder& b) {
  const bool second = IsSigned(b.type(1));
  b.Map(IsSigned(b.type(0)) ? Dp4aOf<int8_t>(second) : Dp4aOf<uint8_t>(second), Type::kB32,
        {Type::kB32, Type::kB32, Type::kB32});
}
void BindDp2a(Binder& b) {
  const bool first = IsSigned(b.type(0)), second = IsSigned(b.type(1)), high = b.Has("hi");
  const Eval eval = first
                        ? (second ? Dp2aOf<int8_t, int8_t>(high) : Dp2aOf<int8_t, uint8_t>(high))
                        : (second ? Dp2aOf<uint8_t, int8_t>(high) : Dp2aOf<uint8_t, uint8_t>(high));
  b.Map(eval, Type::kB32, {Type::kB32, Type::kB32, Type::kB32});
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
