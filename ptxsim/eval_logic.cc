// Logic, shifts, selection and moves: ISA, "Logic and Shift Instructions", "Data Movement".
#include <algorithm>

#include "ptxsim/bind_internal.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {
namespace {

template <typename T>
struct And {
  static T Do(T a, T b) { return a & b; }
};
template <typename T>
struct Or {
  static T Do(T a, T b) { return a | b; }
};
template <typename T>
struct Xor {
  static T Do(T a, T b) { return a ^ b; }
};
template <typename T>
struct Not {
  static T Do(T a) { return T(~a); }
};
// Logical negation: 1 where the operand is 0, else 0.
template <typename T>
struct Cnot {
  static T Do(T a) { return a == 0; }
};
// Amounts past the width count as the width.
template <typename T>
struct Shl {
  static T Do(T a, uint32_t n) { return n >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << (n & 63)); }
};
template <typename T>
struct Shr {
  static T Do(T a, uint32_t n) { return T(a >> std::min<uint32_t>(n, 8 * sizeof(T) - 1)); }
};
template <typename T>
struct ShrUnsigned {
  static T Do(T a, uint32_t n) { return n >= 8 * sizeof(T) ? T(0) : T(a >> (n & 63)); }
};
// shf: a shift of the 64 bits b:a, of which the upper or lower word is the result.
template <bool kLeft, bool kWrap>
struct Funnel {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t n = kWrap ? c & 31 : std::min(c, 32u);
    const uint64_t both = uint64_t{b} << 32 | a;
    return kLeft ? uint32_t(both << n >> 32) : uint32_t(both >> n);
  }
};
// One result byte of prmt: byte 0 to 7 of b:a, or eight copies of its sign.
struct SelectByte {
  static uint32_t Do(uint64_t bytes, uint32_t selector) {
    const auto byte = uint32_t(bytes >> 8 * (selector & 7)) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
  }
};
// The default mode: each nibble of c chooses a byte.
struct Prmt {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t d = 0;
    for (int i = 0; i < 4; ++i) d |= SelectByte::Do(bytes, c >> 4 * i) << 8 * i;
    return d;
  }
};
// prmt's special modes choose bytes by the two low bits of c.
enum PrmtMode { kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
template <PrmtMode kMode>
struct PrmtOf {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    const uint32_t n = c & 3;
    uint32_t d = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t pick = 0;
      if (kMode == kF4e) pick = n + i;
      if (kMode == kB4e) pick = (n - i) & 7;
      if (kMode == kRc8) pick = n;
      if (kMode == kEcl) pick = std::max(i, n);
      if (kMode == kEcr) pick = std::min(i, n);
      if (kMode == kRc16) pick = (n & 1) * 2 + (i & 1);
      d |= uint32_t(bytes >> 8 * pick & 0xff) << 8 * i;
    }
    return d;
  }
};

// Any function of three bits: its truth table is an immediate of eight bits.
void Lop3(const Op& op, std::byte* frame, void* result) {
  const uint32_t* a = In<uint32_t>(frame, op.a);
  const uint32_t* b = In<uint32_t>(frame, op.b);
  const uint32_t* c = In<uint32_t>(frame, op.c);
  uint32_t* d = static_cast<uint32_t*>(result);
  uint32_t on[8];
  for (int k = 0; k < 8; ++k) on[k] = op.flags >> k & 1 ? ~0u : 0;
  HLOKIT_LANES(i) {
    const uint32_t x = a[i], y = b[i], z = c[i];
    d[i] = (on[0] & ~x & ~y & ~z) | (on[1] & ~x & ~y & z) | (on[2] & ~x & y & ~z) |
           (on[3] & ~x & y & z) | (on[4] & x & ~y & ~z) | (on[5] & x & ~y & z) |
           (on[6] & x & y & ~z) | (on[7] & x & y & z);
  }
}
// p = (d != 0) BoolOp q; op.mode: 0 and, 1 or.
void NonZeroWith(const Op& op, std::byte* frame, void* result) {
  const uint32_t* a = In<uint32_t>(frame, op.a);
  uint8_t lanes[kLanes];
  HLOKIT_LANES(i) lanes[i] = a[i] != 0;
  const LaneMask mask = PackBits(lanes), q = PredicateAt(frame, op.b);
  *static_cast<LaneMask*>(result) = op.mode == 0 ? mask & q : mask | q;
}

enum PredicateOp { kAndP, kOrP, kXorP, kNotP, kMoveP };
template <PredicateOp kOp>
void Predicates(const Op& op, std::byte* frame, void* result) {
  const LaneMask a = PredicateAt(frame, op.a);
  const LaneMask b = kOp == kNotP || kOp == kMoveP ? 0 : PredicateAt(frame, op.b);
  LaneMask d = a;
  if (kOp == kAndP) d = a & b;
  if (kOp == kOrP) d = a | b;
  if (kOp == kXorP) d = a ^ b;
  if (kOp == kNotP) d = ~a;
  *static_cast<LaneMask*>(result) = d;
}

template <typename T>
struct Same {
  static T Do(T a) { return a; }
};
struct Wide {
  uint64_t part[2];
};

// selp: a where the predicate holds, else b.
template <typename T>
void Select(const Op& op, std::byte* frame, void* result) {
  const T* a = In<T>(frame, op.a);
  const T* b = In<T>(frame, op.b);
  const LaneMask p = PredicateAt(frame, op.c);
  T* d = static_cast<T*>(result);
  HLOKIT_LANES(i) d[i] = p >> i & 1 ? a[i] : b[i];
}
// slct: a where c >= 0, else b.
template <typename T, typename C, bool kFlush>
void SelectBySign(const Op& op, std::byte* frame, void* result) {
  const T* a = In<T>(frame, op.a);
  const T* b = In<T>(frame, op.b);
  const C* c = In<C>(frame, op.c);
  T* d = static_cast<T*>(result);
  // -0 is not below zero, and a flushed subnormal is zero.
  HLOKIT_LANES(i) {
    C key = c[i];
    if constexpr (kFlush) key = key > -0x1p-126f && key < 0x1p-126f ? C(0) : key;
    d[i] = key >= 0 ? a[i] : b[i];
  }
}

// Pieces of a wider value: op.list is their slots.
template <typename T, typename W>
void Pack(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  W* d = Out<W>(frame, op.d);
  const Slot* slots = &warp.code().slots[op.list];
  W values[kLanes] = {};
  for (uint32_t k = 0; k < op.list_size; ++k) {
    const T* s = In<T>(frame, slots[k].at);
    HLOKIT_LANES(i) values[i] |= W(s[i]) << (8 * sizeof(T) * k);
  }
  HLOKIT_LANES(i) d[i] = mask >> i & 1 ? values[i] : d[i];
}
template <typename T, typename W>
void Unpack(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  W values[kLanes];
  std::memcpy(values, frame + op.a, sizeof(values));
  const Slot* slots = &warp.code().slots[op.list];
  for (uint32_t k = 0; k < op.list_size; ++k) {
    if (slots[k].at == kNoSlot) continue;
    for (int i = 0; i < kLanes; ++i) {
      if (!(mask >> i & 1)) continue;
      const uint64_t piece = T(values[i] >> (8 * sizeof(T) * k));
      std::memcpy(frame + slots[k].at + i * slots[k].bytes, &piece, slots[k].bytes);
    }
  }
}

using U128 = unsigned __int128;

template <typename W>
Exec PackOf(int bytes, bool pack) {
  switch (bytes) {
    case 1:
      return pack ? &Pack<uint8_t, W> : &Unpack<uint8_t, W>;
    case 2:
      return pack ? &Pack<uint16_t, W> : &Unpack<uint16_t, W>;
    case 4:
      return pack ? &Pack<uint32_t, W> : &Unpack<uint32_t, W>;
    case 8:
      return pack ? &Pack<uint64_t, W> : &Unpack<uint64_t, W>;
    default:
      return nullptr;
  }
}
Exec PackOf(int wide_bytes, int bytes, bool pack) {
  switch (wide_bytes) {
    case 2:
      return PackOf<uint16_t>(bytes, pack);
    case 4:
      return PackOf<uint32_t>(bytes, pack);
    case 8:
      return PackOf<uint64_t>(bytes, pack);
    case 16:
      return PackOf<U128>(bytes, pack);
    default:
      return nullptr;
  }
}
Type BitsType(int bytes) {
  switch (bytes) {
    case 1:
      return Type::kB8;
    case 2:
      return Type::kB16;
    case 4:
      return Type::kB32;
    default:
      return Type::kB64;
  }
}

void BindPack(Binder& b) {
  const Operand& pieces = b.operand(1);
  const int count = static_cast<int>(pieces.parts.size());
  const int bytes = BytesOf(b.type()) / std::max(count, 1);
  Op op = b.MakeExec(PackOf(BytesOf(b.type()), bytes, true));
  if (op.exec == nullptr) return b.Unsupported();
  op.list = b.SourceList(pieces, BitsType(bytes), op.list_size);
  op.d = b.Result(0, b.type());
  if (!b.failed()) b.Emit(op);
}
void BindUnpack(Binder& b) {
  const Operand& pieces = b.operand(0);
  const int count = static_cast<int>(pieces.parts.size());
  const int bytes = BytesOf(b.type()) / std::max(count, 1);
  Op op = b.MakeExec(PackOf(BytesOf(b.type()), bytes, false));
  if (op.exec == nullptr) return b.Unsupported();
  op.a = b.Source(1, b.type());
  op.list = b.ResultList(pieces, op.list_size);
  if (!b.failed()) b.Emit(op);
}

Eval CopyOf(Type type) {
  if (type == Type::kPred) return &Predicates<kMoveP>;
  switch (BytesOf(type)) {
    case 1:
      return &Unary<Same<uint8_t>, uint8_t, uint8_t>;
    case 2:
      return &Unary<Same<uint16_t>, uint16_t, uint16_t>;
    case 4:
      return &Unary<Same<uint32_t>, uint32_t, uint32_t>;
    case 8:
      return &Unary<Same<uint64_t>, uint64_t, uint64_t>;
    default:
      return &Unary<Same<Wide>, Wide, Wide>;
  }
}

template <template <typename> class F>
void BindBitwise(Binder& b, Eval predicates) {
  const Type type = b.type();
  const Eval eval = type == Type::kPred ? predicates : ForInteger(type, []<typename T>(T) -> Eval {
    return &Binary<F<T>, T, T, T>;
  });
  b.Map(eval, type, {type, type});
}

}  // namespace

void BindAnd(Binder& b) { BindBitwise<And>(b, &Predicates<kAndP>); }
void BindOr(Binder& b) { BindBitwise<Or>(b, &Predicates<kOrP>); }
void BindXor(Binder& b) { BindBitwise<Xor>(b, &Predicates<kXorP>); }
void BindNot(Binder& b) {
  const Type type = b.type();
  b.Map(type == Type::kPred
            ? Eval(&Predicates<kNotP>)
            : ForInteger(type, []<typename T>(T) -> Eval { return &Unary<Not<T>, T, T>; }),
        type, {type});
}
void BindCnot(Binder& b) {
  b.Map(ForInteger(b.type(), []<typename T>(T) -> Eval { return &Unary<Cnot<T>, T, T>; }), b.type(),
        {b.type()});
}
void BindShl(Binder& b) {
  b.Map(ForInteger(b.type(), []<typename T>(T) -> Eval { return &Binary<Shl<T>, T, T, uint32_t>; }),
        b.type(), {b.type(), Type::kU32});
}
void BindShr(Binder& b) {
  b.Map(ForInteger(b.type(),
                   []<typename T>(T) -> Eval {
                     if constexpr (std::is_signed_v<T>) return &Binary<Shr<T>, T, T, uint32_t>;
                     return &Binary<ShrUnsigned<T>, T, T, uint32_t>;
                   }),
        b.type(), {b.type(), Type::kU32});
}
void BindShf(Binder& b) {
  const bool left = b.Has("l"), wrap = b.Has("wrap");
  using U = uint32_t;
  const Eval eval = left ? (wrap ? Eval(&Ternary<Funnel<true, true>, U, U, U, U>)
                                 : Eval(&Ternary<Funnel<true, false>, U, U, U, U>))
                         : (wrap ? Eval(&Ternary<Funnel<false, true>, U, U, U, U>)
                                 : Eval(&Ternary<Funnel<false, false>, U, U, U, U>));
  b.Map(eval, Type::kB32, {Type::kB32, Type::kB32, Type::kU32});
}
void BindPrmt(Binder& b) {
  using U = uint32_t;
  Eval eval = &Ternary<Prmt, U, U, U, U>;
  if (b.Has("f4e")) eval = &Ternary<PrmtOf<kF4e>, U, U, U, U>;
  if (b.Has("b4e")) eval = &Ternary<PrmtOf<kB4e>, U, U, U, U>;
  if (b.Has("rc8")) eval = &Ternary<PrmtOf<kRc8>, U, U, U, U>;
  if (b.Has("ecl")) eval = &Ternary<PrmtOf<kEcl>, U, U, U, U>;
  if (b.Has("ecr")) eval = &Ternary<PrmtOf<kEcr>, U, U, U, U>;
  if (b.Has("rc16")) eval = &Ternary<PrmtOf<kRc16>, U, U, U, U>;
  b.Map(eval, Type::kB32, {Type::kB32, Type::kB32, Type::kB32});
}
void BindLop3(Binder& b) {
  const bool with_predicate = b.operand(0).kind == Operand::kPair;
  const Operand& result = with_predicate ? b.operand(0).parts[0] : b.operand(0);
  if (b.size() < 5 || (with_predicate && b.size() < 6)) return b.Unsupported();
  Op op = b.MakeEval(&Lop3, Type::kB32, 0);
  op.a = b.Source(1, Type::kB32);
  op.b = b.Source(2, Type::kB32);
  op.c = b.Source(3, Type::kB32);
  op.flags = static_cast<uint32_t>(b.Immediate(4));
  op.d = b.Result(result, Type::kB32);
  if (b.failed()) return;
  b.Emit(op);
  if (!with_predicate) return;
  Op combine = b.MakeEval(&NonZeroWith, Type::kPred, b.Result(b.operand(0).parts[1], Type::kPred));
  combine.a = op.d;
  combine.b = b.Source(5, Type::kPred);
  combine.mode = b.Has("or") ? 1 : 0;
  if (!b.failed()) b.Emit(combine);
}
namespace {

// mov.v4 d, a: component by component, through temporaries, for d may be a in another order. A
// special register's fourth component is 0.
void BindMoveVector(Binder& b) {
  const Type type = b.type();
  const Operand& to = b.operand(0);
  std::vector<Operand> from = b.operand(1).parts;
  if (b.operand(1).kind == Operand::kName)
    for (const char letter : absl::string_view("xyzw")) {
      Operand part = b.operand(1);
      part.name += absl::StrCat(".", std::string(1, letter));
      if (letter == 'w') part.kind = Operand::kInteger;
      from.push_back(part);
    }
  const auto count = static_cast<size_t>(b.vector_size());
  if (from.size() < count || to.parts.size() != count) return b.Unsupported();
  std::vector<uint32_t> copies;
  for (size_t i = 0; i < count; ++i) {
    Op op = b.MakeEval(CopyOf(type), type, b.Temporary(BytesOf(type)));
    op.a = b.Source(from[i], type);
    if (b.failed()) return;
    copies.push_back(b.Emit(op).d);
  }
  for (size_t i = 0; i < count && !b.failed(); ++i) {
    if (to.parts[i].kind == Operand::kSink) continue;
    Op op = b.MakeEval(CopyOf(type), type, b.Result(to.parts[i], type));
    op.a = copies[i];
    b.Emit(op);
  }
}

}  // namespace

void BindMov(Binder& b) {
  const Type type = b.type();
  if (b.vector_size() > 1) return BindMoveVector(b);
  if (b.operand(0).kind == Operand::kVector) return BindUnpack(b);
  if (b.operand(1).kind == Operand::kVector) return BindPack(b);
  b.Map(CopyOf(type), type, {type});
}
void BindSelp(Binder& b) {
  const Type type = b.type();
  Eval eval = nullptr;
  switch (BytesOf(type)) {
    case 2:
      eval = &Select<uint16_t>;
      break;
    case 4:
      eval = &Select<uint32_t>;
      break;
    case 8:
      eval = &Select<uint64_t>;
      break;
    case 16:
      eval = &Select<Wide>;
      break;
    default:
      break;
  }
  b.Map(eval, type, {type, type, Type::kPred});
}
void BindSlct(Binder& b) {
  const Type type = b.type(0), key = b.type(1);
  const bool flush = b.Has("ftz");
  Eval eval = nullptr;
  switch (BytesOf(type)) {
    case 2:
      eval = key == Type::kS32 ? Eval(&SelectBySign<uint16_t, int32_t, false>)
             : flush           ? Eval(&SelectBySign<uint16_t, float, true>)
                               : Eval(&SelectBySign<uint16_t, float, false>);
      break;
    case 4:
      eval = key == Type::kS32 ? Eval(&SelectBySign<uint32_t, int32_t, false>)
             : flush           ? Eval(&SelectBySign<uint32_t, float, true>)
                               : Eval(&SelectBySign<uint32_t, float, false>);
      break;
    default:
      eval = key == Type::kS32 ? Eval(&SelectBySign<uint64_t, int32_t, false>)
             : flush           ? Eval(&SelectBySign<uint64_t, float, true>)
                               : Eval(&SelectBySign<uint64_t, float, false>);
      break;
  }
  b.Map(eval, type, {type, type, key});
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
