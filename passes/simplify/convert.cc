// Rules of conversions and copies.
//   f32(f64(x: f32)) -> x        the inner conversion loses nothing
//   s8(s32(x: s16)) -> s8(x)     integers wrap the same way
//   f32(bf16(x: f32)) stays      it rounds
// HoldsAllValues(from, to) says which conversions are exact.
#include "passes/rewrite/exact_types.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

Instruction* ConvertSame(Instruction* i, Rewriter&) {
  return i->operand(0)->shape().type == i->shape().type ? i->operand(0) : nullptr;
}

// convert(convert(x)) where the inner one loses nothing.
Instruction* ConvertChain(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (inner->opcode() != Opcode::kConvert) return nullptr;
  Instruction* x = inner->operand(0);
  const ElementType from = x->shape().type, by = inner->shape().type, to = i->shape().type;
  if (!HoldsAllValues(from, by) || from == by) return nullptr;
  if (from == to) return x;
  // An integer wider than the middle float or out of range saturates or wraps by other rules: only
  // exact middles.
  if (IsFloat(by) && !IsFloat(from)) return nullptr;
  if (IsPred(to)) return nullptr;
  return r.Add(Opcode::kConvert, i->shape(), {x});
}

Instruction* CopySame(Instruction* i, Rewriter&) { return i->operand(0); }

Instruction* BitcastConvertChain(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (x->shape().type == i->shape().type) return x;
  if (x->opcode() != Opcode::kBitcastConvert || x->operand(0)->shape().dims != i->shape().dims ||
      x->shape().dims != i->shape().dims)
    return nullptr;
  if (x->operand(0)->shape().type == i->shape().type) return x->operand(0);
  return r.Add(Opcode::kBitcastConvert, i->shape(), {x->operand(0)});
}

Instruction* ReducePrecisionNothing(Instruction* i, Rewriter&) {
  const auto& bits = i->attr<ReducePrecisionAttrs>();
  const ElementType type = i->shape().type;
  const bool all =
      (type == ElementType::kF32 && bits.exponent_bits == 8 && bits.mantissa_bits == 23) ||
      (type == ElementType::kF64 && bits.exponent_bits == 11 && bits.mantissa_bits == 52);
  return all ? i->operand(0) : nullptr;
}

constexpr Rule kConvertRules[] = {
    {"convert-same", Opcode::kConvert, ConvertSame},
    {"convert-chain", Opcode::kConvert, ConvertChain},
    {"copy-same", Opcode::kCopy, CopySame},
    {"bitcast-convert-chain", Opcode::kBitcastConvert, BitcastConvertChain},
    {"reduce-precision-nothing", Opcode::kReducePrecision, ReducePrecisionNothing},
};

}  // namespace

absl::Span<const Rule> ConvertRules() { return kConvertRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
