// Matrix instructions by tiles: the choice of kernels, tables of bytes, fragments.
#include "ptxsim/tile_form_internal.h"

#include <array>

#include "ptxsim/lane_kernels.h"
#include "ptxsim/lanes.h"
#include "ptxsim/rounding.h"
#include "support/cpu_features.h"

namespace hlokit::ptx {
namespace {

constexpr int kMaxSumRegisters = 128;  // of 256 columns

bool IsByteType(Type type) { return ElementBits(type) <= 8; }

// The values of a register's bytes; of the types below 8 bits as .kind::f8f6f4 has them.
template <Type type>
const float* ByteValues() {
  static const auto values = [] {
    std::array<float, 256> all;
    for (uint32_t byte = 0; byte < 256; ++byte)
      all[byte] = static_cast<float>(ElementValue(type, type == Type::kE2M1 ? byte >> 2 : byte));
    return all;
  }();
  return values.data();
}

const float* ByteValuesOf(Type type) {
  switch (type) {
    case Type::kS8:
      return ByteValues<Type::kS8>();
    case Type::kU8:
      return ByteValues<Type::kU8>();
    case Type::kE4M3:
      return ByteValues<Type::kE4M3>();
    case Type::kE5M2:
      return ByteValues<Type::kE5M2>();
    case Type::kE3M2:
      return ByteValues<Type::kE3M2>();
    case Type::kE2M3:
      return ByteValues<Type::kE2M3>();
    case Type::kE2M1:
      return ByteValues<Type::kE2M1>();
    default:
      return nullptr;
  }
}

TileElement TileElementOf(Type type) {
  return type == Type::kTF32   ? TileElement::kTF32
         : type == Type::kF16  ? TileElement::kF16
         : type == Type::kBF16 ? TileElement::kBF16
                               : TileElement::kByte;
}

bool IsTileOperand(Type type) {
  return type == Type::kTF32 || type == Type::kF16 || type == Type::kBF16 ||
         ByteValuesOf(type) != nullptr;
}

const uint32_t* WordsOf(const std::byte* frame, Slot slot) { return In<uint32_t>(frame, slot.at); }

}  // namespace

const LaneKernels& BestLaneKernels() {
  static const LaneKernels& kernels = HLOKIT_OF_BEST_ISA(kLaneKernels);
  return kernels;
}

const ProductKernels& BestProductKernels() {
  static const ProductKernels& kernels = HLOKIT_OF_BEST_ISA(kProductKernels);
  return kernels;
}

TileForm TileFormOf(const ProductRule& rule, int columns, int depth) {
  TileForm form;
  form.is_integer = rule.d == Type::kS32;
  const bool is_sum = form.is_integer
                          ? rule.c == Type::kS32 && IsByteType(rule.a)
                          : (rule.c == Type::kF16 || rule.c == Type::kF32) &&
                                (rule.d == Type::kF16 || rule.d == Type::kF32) && IsFloat(rule.a);
  const bool is_stepwise = rule.steps == ProductSteps::kFours;
  if (!is_sum || !IsTileOperand(rule.a) || !IsTileOperand(rule.b) || columns % 8 != 0 ||
      columns > 256 || depth > 64 || depth % 4 != 0 || (depth & (depth - 1)) != 0 ||
      (rule.steps != ProductSteps::kAll && !is_stepwise))
    return form;
  form.is_taken = true;
  form.a = TileElementOf(rule.a);
  form.b = TileElementOf(rule.b);
  form.a_table = ByteValuesOf(rule.a);
  form.b_table = ByteValuesOf(rule.b);
  form.half_c = rule.c == Type::kF16;
  form.half_d = rule.d == Type::kF16;
  form.rule = {rule.fraction,         is_stepwise ? 4 : 0,   LeastExponent(rule.a),
               LeastExponent(rule.b), LeastExponent(rule.c), form.half_d};
  return form;
}

void UnpackAccumulators(const TileForm& form, const std::byte* frame, const Slot* slots,
                        int columns, float* c) {
  const uint32_t* registers[kMaxSumRegisters];
  const int count = form.half_c ? columns / 4 : columns / 2;
  for (int i = 0; i < count; ++i) registers[i] = WordsOf(frame, slots[i]);
  if (form.half_c) {
    BestProductKernels().unpack(registers, count, TileElement::kF16, nullptr, c);
  } else {
    BestProductKernels().unpack_sums(registers, count, c);
  }
}

void PackAccumulators(const TileForm& form, const float* c, int columns, std::byte* frame,
                      const Slot* slots) {
  uint32_t* registers[kMaxSumRegisters];
  const int count = form.half_d ? columns / 4 : columns / 2;
  for (int i = 0; i < count; ++i) registers[i] = Out<uint32_t>(frame, slots[i].at);
  if (!form.half_d) return BestProductKernels().pack_sums(c, count, registers);
  for (int i = 0; i < count; ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      const float* const at = c + (i / 2 * 8 + lane % 4 * 2) * kTileRows + lane / 4 + i % 2 * 8;
      registers[i][lane] = RoundToF16(at[0]) | uint32_t{RoundToF16(at[kTileRows])} << 16;
    }
}

void UnpackRows(const TileForm& form, const std::byte* frame, const Slot* slots, int count,
                float* a) {
  const uint32_t* registers[8];
  for (int i = 0; i < count; ++i) registers[i] = WordsOf(frame, slots[i]);
  BestProductKernels().unpack(registers, count, form.a, form.a_table, a);
}

bool MultiplyTile(const TileForm& form, const ProductTile& tile, bool saturate) {
  if (!form.is_integer) return BestProductKernels().floats(tile, form.rule);
  BestProductKernels().integers(tile, saturate);
  return true;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
