// Conversions of packs: two or four narrow floats, or integers, in one register, and to tf32 (ISA,
// "cvt" and "cvt.pack"). The first operand goes to the upper place.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ptxsim/convert_internal.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {
namespace {

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
// cvt.rs: a pack rounded with random bits of the last operand. Of two elements the upper one has
// the upper half of them (13 bits each for f16, whose mantissa lacks so many, else 16); of four the
// upper two share the upper half.
void PackRandomly(const Op& op, std::byte* frame, void* result) {
  const PackedType& to = kPacked[op.offset];
  const uint32_t* columns[] = {&op.a, &op.b, &op.c, &op.e};
  const int count = static_cast<int>(op.list_size);
  const int random_bits = to.type == Type::kF16x2 ? 13 : 16;
  uint32_t values[kLanes] = {};
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t random = In<uint32_t>(frame, op.d2)[i];
    for (int k = 0; k < count; ++k) {
      double x = In<float>(frame, *columns[k])[i];
      if ((op.flags & kRelu) && (x < 0 || x == 0)) x = 0;
      const uint32_t half = k < count / 2 ? random >> 16 : random;
      const uint32_t bits = half & ((1u << random_bits) - 1);
      const uint32_t narrow =
          x != x ? Narrow(x, to, Rounding::kNearest, op.flags)
                 : RoundRandomly(x, *to.format, bits, random_bits, op.flags & kSatFinite);
      values[i] = values[i] << to.bits | narrow;
    }
  }
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

// As an H200 has it: .rna cuts a NaN off like any other number.
uint32_t NanOfTf32(float a, Rounding rounding) {
  return rounding == Rounding::kNearestAway ? std::bit_cast<uint32_t>(a) & 0xffffe000u
                                            : 0x7fffe000u;
}

void ToTf32(const Op& op, std::byte* frame, void* result) {
  const float* a = In<float>(frame, op.a);
  uint32_t* d = static_cast<uint32_t*>(result);
  for (int i = 0; i < kLanes; ++i) {
    double x = a[i];
    if ((op.flags & kRelu) && (x < 0 || x == 0)) x = 0;
    d[i] =
        x != x
            ? NanOfTf32(a[i], static_cast<Rounding>(op.mode))
            : RoundToFormat(x, kFormatTF32, static_cast<Rounding>(op.mode), op.flags & kSatFinite)
                  << 13;
  }
}

// ue8m0 is a power of two: its exponent, biased by 127; 255 is NaN. `max`: what infinity and what
// is too large give, 254 with .satfinite.
uint32_t PowerOfTwo(double x, bool up, uint32_t max) {
  if (x != x) return 0xff;
  x = std::fabs(x);
  if (x < 0x1p-127) return 0;
  if (std::isinf(x)) return max;
  int exponent = std::ilogb(x);
  if (up && std::ldexp(1.0, exponent) < x) ++exponent;
  return std::min(static_cast<uint32_t>(exponent + 127), max);
}
void PackPowers(const Op& op, std::byte* frame, void* result) {
  const bool up = static_cast<Rounding>(op.mode) == Rounding::kUp;
  const uint32_t max = op.flags & kSatFinite ? 254 : 255;
  uint16_t* d = static_cast<uint16_t*>(result);
  uint16_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const bool brains = op.offset != 0;
    const uint32_t pack = brains ? In<uint32_t>(frame, op.a)[i] : 0;
    const double high = brains ? BF16Value(uint16_t(pack >> 16)) : In<float>(frame, op.a)[i];
    const double low = brains ? BF16Value(uint16_t(pack)) : In<float>(frame, op.b)[i];
    values[i] = uint16_t(PowerOfTwo(high, up, max) << 8 | PowerOfTwo(low, up, max));
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

// The pack of two elements of a pack of four, or `type` itself.
Type HalfPack(Type type) {
  switch (type) {
    case Type::kE4M3x4:
      return Type::kE4M3x2;
    case Type::kE5M2x4:
      return Type::kE5M2x2;
    case Type::kE2M1x4:
      return Type::kE2M1x2;
    case Type::kE3M2x4:
      return Type::kE3M2x2;
    case Type::kE2M3x4:
      return Type::kE2M3x2;
    default:
      return type;
  }
}

// cvt.rs.f16x2.f32 d, a, b, random; cvt.rs.e4m3x4.f32 d, {a, b, e, f}, random
void BindRandom(Binder& b) {
  const Type to = b.type(0);
  const PackedType* result = PackedOf(HalfPack(to));
  const bool four = HalfPack(to) != to;
  if (result == nullptr || b.type(1) != Type::kF32 || b.size() != (four ? 3 : 4))
    return b.Unsupported();
  Op op = b.MakeEval(&PackRandomly, to, 0);
  op.offset = result - kPacked;
  op.flags = FlagsOf(b);
  op.list_size = four ? 4 : 2;
  uint32_t* const columns[] = {&op.a, &op.b, &op.c, &op.e};
  if (four && b.operand(1).parts.size() != 4) return b.Unsupported();
  for (uint32_t k = 0; k < op.list_size; ++k)
    *columns[k] =
        b.Source(four ? b.operand(1).parts[k] : b.operand(static_cast<int>(k) + 1), Type::kF32);
  op.d2 = b.Source(b.size() - 1, Type::kB32);
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

void BindToTf32(Binder& b) {
  Op op = b.MakeEval(&ToTf32, Type::kB32, 0);
  op.mode = static_cast<uint8_t>(RoundingOf(b));
  op.flags = FlagsOf(b);
  op.a = b.Source(1, Type::kF32);
  op.d = b.Result(0, Type::kB32);
  if (!b.failed()) b.Emit(op);
}

}  // namespace

bool BindPackedCvt(Binder& b) {
  const Type to = b.type(0), from = b.type(1);
  if (b.Has("pack")) {
    BindCvtPack(b);
  } else if (b.Has("rs")) {
    BindRandom(b);
  } else if (b.Has("scaled")) {
    b.Unsupported();
  } else if (to == Type::kTF32) {
    BindToTf32(b);
  } else if (PackedOf(to) != nullptr || PackedOf(from) != nullptr || to == Type::kUE8M0x2) {
    BindPacked(b, to, from);
  } else {
    return false;
  }
  return true;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
