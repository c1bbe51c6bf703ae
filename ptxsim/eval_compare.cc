// setp and set: ISA, "Comparison and Selection Instructions".
#include "ptxsim/bind_internal.h"
#include "ptxsim/lanes.h"
#include "ptxsim/rounding.h"

namespace hlokit::ptx {
namespace {

enum Comparison : uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
  kNoComparison,
};

constexpr absl::string_view kNames[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

// Of integers, lo, ls, hi and hs are the unsigned lt, le, gt and ge.
Comparison ComparisonOf(const Binder& b) {
  for (int i = 0; i < 14; ++i)
    if (b.Has(kNames[i])) return static_cast<Comparison>(i);
  if (b.Has("lo")) return kLt;
  if (b.Has("ls")) return kLe;
  if (b.Has("hi")) return kGt;
  if (b.Has("hs")) return kGe;
  return kNoComparison;
}

// The comparison on one lane. Ordered ones are false where an operand is NaN, those with u are
// true.
template <Comparison kOp, typename T>
bool Holds(T a, T b) {
  const bool unordered = a != a || b != b;
  switch (kOp) {
    case kEq:
      return a == b;
    case kNe:
      return a != b && !unordered;
    case kLt:
      return a < b;
    case kLe:
      return a <= b;
    case kGt:
      return a > b;
    case kGe:
      return a >= b;
    case kEqu:
      return unordered || a == b;
    case kNeu:
      return a != b;
    case kLtu:
      return !(a >= b);
    case kLeu:
      return !(a > b);
    case kGtu:
      return !(a <= b);
    case kGeu:
      return !(a < b);
    case kNum:
      return !unordered;
    default:
      return unordered;
  }
}

template <Comparison kOp, typename T, bool kFlush>
void Compare(const Op& op, std::byte* frame, void* result) {
  const T* a = In<T>(frame, op.a);
  const T* b = In<T>(frame, op.b);
  uint8_t lanes[kLanes];
  HLOKIT_LANES(i) {
    if constexpr (kFlush) {
      lanes[i] = Holds<kOp, T>(FlushF32(a[i]), FlushF32(b[i]));
    } else {
      lanes[i] = Holds<kOp, T>(a[i], b[i]);
    }
  }
  *static_cast<LaneMask*>(result) = PackBits(lanes);
}

template <typename T, bool kFlush, int... kOps>
Eval CompareTable(Comparison c, std::integer_sequence<int, kOps...>) {
  static constexpr Eval kTable[] = {&Compare<static_cast<Comparison>(kOps), T, kFlush>...};
  return kTable[c];
}
template <typename T, bool kFlush = false>
Eval CompareOf(Comparison c) {
  if (c == kNoComparison || (std::is_integral_v<T> && c > kGe)) return nullptr;
  return CompareTable<T, kFlush>(c, std::make_integer_sequence<int, 14>());
}

Eval CompareOf(Type type, Comparison c, bool flush) {
  if (type == Type::kF32) return flush ? CompareOf<float, true>(c) : CompareOf<float>(c);
  if (type == Type::kF64) return CompareOf<double>(c);
  return ForInteger(type, [&]<typename T>(T) -> Eval { return CompareOf<T>(c); });
}

struct HighPart {
  static uint16_t Do(uint32_t a) { return uint16_t(a >> 16); }
};
struct LowPart {
  static uint16_t Do(uint32_t a) { return uint16_t(a); }
};

// One half of a packed pair.
uint32_t Part(Binder& b, uint32_t at, bool high) {
  Op op = b.MakeEval(
      high ? Eval(&Unary<HighPart, uint16_t, uint32_t>) : Eval(&Unary<LowPart, uint16_t, uint32_t>),
      Type::kB16, b.Temporary(2));
  op.a = at;
  return b.Emit(op).d;
}

enum Combine { kAndC, kOrC, kXorC };
// d = (not?) a, combined with c: op.mode; op.flags 1: the complement of a.
void CombineMasks(const Op& op, std::byte* frame, void* result) {
  const LaneMask a = PredicateAt(frame, op.a) ^ (op.flags ? kAllLanes : 0);
  const LaneMask c = PredicateAt(frame, op.c);
  *static_cast<LaneMask*>(result) = op.mode == kAndC  ? (a & c)
                                    : op.mode == kOrC ? (a | c)
                                                      : (a ^ c);
}

uint32_t EmitCompare(Binder& b, Type type, uint32_t x, uint32_t y) {
  const bool half = type == Type::kF16 || type == Type::kBF16;
  if (half) {
    x = WidenHalf(b, x, type, b.Has("ftz"));
    y = WidenHalf(b, y, type, b.Has("ftz"));
  }
  const Eval eval = CompareOf(half ? Type::kF32 : type, ComparisonOf(b), b.Has("ftz") && !half);
  if (eval == nullptr) {
    b.Unsupported();
    return 0;
  }
  Op op = b.MakeEval(eval, Type::kPred, b.Temporary(0));
  op.a = x;
  op.b = y;
  return b.Emit(op).d;
}

// The predicate combined with the instruction's third source, where there is one.
uint32_t EmitCombine(Binder& b, uint32_t mask, bool complement, bool has_source) {
  Op op = b.MakeEval(&CombineMasks, Type::kPred, b.Temporary(0));
  op.a = mask;
  op.flags = complement;
  if (has_source) {
    op.mode = b.Has("or") ? kOrC : b.Has("xor") ? kXorC : kAndC;
    op.c = b.Source(3, Type::kPred);
  } else {
    op.mode = kAndC;
    op.c = b.Constant(1, 0);
  }
  return b.Emit(op).d;
}

void MovePredicate(const Op& op, std::byte* frame, void* result) {
  *static_cast<LaneMask*>(result) = PredicateAt(frame, op.a);
}
void EmitMove(Binder& b, uint32_t from, const Operand& to) {
  Op op = b.MakeEval(&MovePredicate, Type::kPred, b.Result(to, Type::kPred));
  op.a = from;
  if (!b.failed()) b.Emit(op);
}

Type ElementOf(Type type) {
  if (type == Type::kF16x2) return Type::kF16;
  if (type == Type::kBF16x2) return Type::kBF16;
  return Type::kNone;
}

// Chooses between two constants by a predicate.
template <typename T>
void FromMask(const Op& op, std::byte* frame, void* result) {
  const LaneMask mask = PredicateAt(frame, op.a);
  T* d = static_cast<T*>(result);
  const T one = static_cast<T>(op.flags);
  HLOKIT_LANES(i) d[i] = mask >> i & 1 ? one : T(0);
}
void FromMasks(const Op& op, std::byte* frame, void* result) {
  const LaneMask low = PredicateAt(frame, op.a), high = PredicateAt(frame, op.b);
  uint32_t* d = static_cast<uint32_t*>(result);
  HLOKIT_LANES(i)
  d[i] = (low >> i & 1 ? op.flags : 0) | (high >> i & 1 ? op.flags << 16 : 0);
}

// What stands for true in a result of `type`.
uint32_t TrueBits(Type type) {
  switch (type) {
    case Type::kF32:
      return 0x3f800000;
    case Type::kF16:
    case Type::kF16x2:
      return 0x3c00;
    case Type::kBF16:
    case Type::kBF16x2:
      return 0x3f80;
    case Type::kU16:
    case Type::kS16:
      return 0xffff;
    default:
      return 0xffffffff;
  }
}

void BindSetPacked(Binder& b, Type result, Type source) {
  const uint32_t x = b.Source(1, source), y = b.Source(2, source);
  uint32_t masks[2];
  for (int part = 0; part < 2; ++part) {
    const uint32_t mask = EmitCompare(b, ElementOf(source), Part(b, x, part), Part(b, y, part));
    masks[part] = EmitCombine(b, mask, false, b.size() > 3);
  }
  if (b.failed()) return;
  Op op = b.MakeEval(&FromMasks, result, b.Result(0, result));
  op.a = masks[0];
  op.b = masks[1];
  op.flags = TrueBits(result) & 0xffff;
  if (!b.failed()) b.Emit(op);
}

}  // namespace

void BindSetp(Binder& b) {
  const Type type = b.type();
  const bool pair = b.operand(0).kind == Operand::kPair;
  if (ElementOf(type) != Type::kNone) {
    if (!pair) return b.Unsupported();
    const uint32_t x = b.Source(1, type), y = b.Source(2, type);
    uint32_t masks[2];
    for (int part = 0; part < 2; ++part) {
      const uint32_t mask = EmitCompare(b, ElementOf(type), Part(b, x, part), Part(b, y, part));
      masks[part] = EmitCombine(b, mask, false, b.size() > 3);
    }
    for (int part = 0; part < 2 && !b.failed(); ++part)
      if (b.operand(0).parts[part].kind != Operand::kSink)
        EmitMove(b, masks[part], b.operand(0).parts[part]);
    return;
  }
  const uint32_t x = b.Source(1, type), y = b.Source(2, type);
  if (b.failed()) return;
  if (!pair && b.size() == 3 && type != Type::kF16 && type != Type::kBF16) {  // the common form
    const Eval eval = CompareOf(type, ComparisonOf(b), b.Has("ftz"));
    if (eval == nullptr) return b.Unsupported();
    Op op = b.MakeEval(eval, Type::kPred, b.Result(0, Type::kPred));
    op.a = x;
    op.b = y;
    if (!b.failed()) b.Emit(op);
    return;
  }
  const uint32_t mask = EmitCompare(b, type, x, y);
  if (b.failed()) return;
  const uint32_t first = EmitCombine(b, mask, false, b.size() > 3);
  const uint32_t second = pair ? EmitCombine(b, mask, true, b.size() > 3) : 0;
  const Operand& p = pair ? b.operand(0).parts[0] : b.operand(0);
  if (p.kind != Operand::kSink) EmitMove(b, first, p);
  if (pair && b.operand(0).parts[1].kind != Operand::kSink)
    EmitMove(b, second, b.operand(0).parts[1]);
}

void BindSet(Binder& b) {
  const Type result = b.type(0), source = b.type(1);
  if (ElementOf(source) != Type::kNone) return BindSetPacked(b, result, source);
  const uint32_t x = b.Source(1, source), y = b.Source(2, source);
  if (b.failed()) return;
  const uint32_t mask = EmitCombine(b, EmitCompare(b, source, x, y), false, b.size() > 3);
  if (b.failed()) return;
  Op op = b.MakeEval(BytesOf(result) == 2 ? Eval(&FromMask<uint16_t>) : Eval(&FromMask<uint32_t>),
                     result, b.Result(0, result));
  op.a = mask;
  op.flags = TrueBits(result);
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
