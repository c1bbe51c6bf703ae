// Bits of integers: counts, places, fields, masks (ISA, "Integer Arithmetic Instructions"). Each
// struct is one operation on one lane; bfe.u32 of 0xabcd at 4 for 8 bits is 0xbc.
#include <algorithm>
#include <type_traits>

#include "ptxsim/bind_internal.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {
namespace {

// The number of one bits.
template <typename T>
struct Popc {
  static uint32_t Do(T a) { return uint32_t(std::popcount(a)); }
};
// The number of zeros above the highest one; the width for 0.
template <typename T>
struct Clz {
  static uint32_t Do(T a) { return uint32_t(std::countl_zero(a)); }
};
// The place of the highest bit that differs from the sign; all ones where there is none.
template <typename T, bool kShift>
struct Bfind {
  static uint32_t Do(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
    if (bits == 0) return ~uint32_t{0};
    const auto zeros = uint32_t(std::countl_zero(bits));
    return kShift ? zeros : 8 * sizeof(T) - 1 - zeros;
  }
};
// The bits in reverse order.
template <typename T>
struct Brev {
  static T Do(T a) {
    T d = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i) d = T(d << 1 | (a >> i & 1));
    return d;
  }
};
// Bit field extract: a field of a, extended to the width with its sign for signed types.
template <typename T>
struct Bfe {
  static T Do(T a, uint32_t position, uint32_t length) {
    constexpr uint32_t kTop = 8 * sizeof(T) - 1;
    const uint32_t at = position & 0xff, count = length & 0xff;
    using U = std::make_unsigned_t<T>;
    bool sign = false;
    if (std::is_signed_v<T> && count != 0) sign = U(a) >> std::min(at + count - 1, kTop) & 1;
    U d = at > kTop ? U{0} : U(U(a) >> at);
    if (at > kTop && sign) d = 0;
    if (count <= kTop) d &= (U{1} << count) - 1;
    // Bits from the field's end on, and those beyond the operand, take the sign.
    const uint32_t have = std::min(count, at > kTop ? 0 : kTop + 1 - at);
    if (sign && have <= kTop) d |= ~U{0} << have;
    return T(d);
  }
};
// Bit field insert: the low bits of a in a field of b.
template <typename T>
struct Bfi {
  static T Do(T a, T b, uint32_t position, uint32_t length) {
    constexpr uint32_t kTop = 8 * sizeof(T) - 1;
    const uint32_t at = position & 0xff, count = length & 0xff;
    if (at > kTop || count == 0) return b;
    const T field = count > kTop ? ~T{0} : T((T{1} << count) - 1);
    const T mask = T(field << at);
    return T((b & ~mask) | (T(a << at) & mask));
  }
};
// bmsk: `count` ones from bit `at` on.
template <bool kClamp>
struct Bmsk {
  static uint32_t Do(uint32_t at, uint32_t count) {
    if (!kClamp) {
      at &= 31;
      count &= 31;
    }
    if (at > 31) return 0;
    const uint64_t ones = count > 31 ? 0xffffffffu : (uint64_t{1} << count) - 1;
    return uint32_t(ones << at);
  }
};
// Sign or zero extension from a given number of bits.
template <typename T, bool kClamp>
struct Szext {
  static T Do(T a, uint32_t count) {
    const uint32_t bits = kClamp ? std::min(count, 32u) : count & 31;
    if (bits == 0) return 0;
    return T(uint32_t(a) << (32 - bits)) >> (32 - bits);
  }
};
// Find n-th set: the place of the n-th one bit from a base on, or all ones.
struct Fns {
  static uint32_t Do(uint32_t mask, uint32_t base, int32_t offset) {
    int32_t position = int32_t(base), left = std::abs(offset) - (offset == 0 ? 0 : 1);
    const int32_t step = offset < 0 ? -1 : 1;
    if (offset == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
    for (; position >= 0 && position < 32; position += step)
      if (mask >> position & 1 && left-- == 0) return uint32_t(position);
    return ~0u;
  }
};

}  // namespace

void BindPopc(Binder& b) {
  const bool wide = b.type() == Type::kB64;
  b.Map(wide ? Eval(&Unary<Popc<uint64_t>, uint32_t, uint64_t>)
             : Eval(&Unary<Popc<uint32_t>, uint32_t, uint32_t>),
        Type::kU32, {b.type()});
}
void BindClz(Binder& b) {
  const bool wide = b.type() == Type::kB64;
  b.Map(wide ? Eval(&Unary<Clz<uint64_t>, uint32_t, uint64_t>)
             : Eval(&Unary<Clz<uint32_t>, uint32_t, uint32_t>),
        Type::kU32, {b.type()});
}
void BindBfind(Binder& b) {
  const bool shift = b.Has("shiftamt");
  b.Map(ForInteger(b.type(),
                   [&]<typename T>(T) -> Eval {
                     return shift ? &Unary<Bfind<T, true>, uint32_t, T>
                                  : &Unary<Bfind<T, false>, uint32_t, T>;
                   }),
        Type::kU32, {b.type()});
}
void BindBrev(Binder& b) {
  const bool wide = b.type() == Type::kB64;
  b.Map(wide ? Eval(&Unary<Brev<uint64_t>, uint64_t, uint64_t>)
             : Eval(&Unary<Brev<uint32_t>, uint32_t, uint32_t>),
        b.type(), {b.type()});
}
void BindBfe(Binder& b) {
  b.Map(
      ForInteger(b.type(),
                 []<typename T>(T) -> Eval { return &Ternary<Bfe<T>, T, T, uint32_t, uint32_t>; }),
      b.type(), {b.type(), Type::kU32, Type::kU32});
}
void BindBfi(Binder& b) {
  const bool wide = b.type() == Type::kB64;
  b.Map(wide ? Eval(&Quaternary<Bfi<uint64_t>, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>)
             : Eval(&Quaternary<Bfi<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>),
        b.type(), {b.type(), b.type(), Type::kU32, Type::kU32});
}
void BindBmsk(Binder& b) {
  b.Map(b.Has("clamp") ? Eval(&Binary<Bmsk<true>, uint32_t, uint32_t, uint32_t>)
                       : Eval(&Binary<Bmsk<false>, uint32_t, uint32_t, uint32_t>),
        Type::kB32, {Type::kU32, Type::kU32});
}
void BindSzext(Binder& b) {
  const bool clamp = b.Has("clamp");
  const Type t = b.type();
  if (t == Type::kS32)
    return b.Map(clamp ? Eval(&Binary<Szext<int32_t, true>, int32_t, int32_t, uint32_t>)
                       : Eval(&Binary<Szext<int32_t, false>, int32_t, int32_t, uint32_t>),
                 t, {t, Type::kU32});
  b.Map(clamp ? Eval(&Binary<Szext<uint32_t, true>, uint32_t, uint32_t, uint32_t>)
              : Eval(&Binary<Szext<uint32_t, false>, uint32_t, uint32_t, uint32_t>),
        t, {t, Type::kU32});
}
void BindFns(Binder& b) {
  b.Map(&Ternary<Fns, uint32_t, uint32_t, uint32_t, int32_t>, Type::kB32,
        {Type::kB32, Type::kB32, Type::kS32});
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
