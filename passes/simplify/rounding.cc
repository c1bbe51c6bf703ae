// Rules that XLA applies always and that round otherwise than what they replace.
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// exp(a) * exp(b) is exp(a + b).
Instruction* ExpProduct(Instruction* i, Rewriter& r) {
  const Instruction *a = i->operand(0), *b = i->operand(1);
  if (!Float(i) || !Is(a, Opcode::kExponential) || !Is(b, Opcode::kExponential)) return nullptr;
  return r.Clone(a, i->shape(), {r.Add(Opcode::kAdd, i->shape(), {a->operand(0), b->operand(0)})});
}

// sqrt(a) * sqrt(a) is a, for a >= 0.
Instruction* SqrtSquare(Instruction* i, Rewriter&) {
  const Instruction* a = i->operand(0);
  return Float(i) && Is(a, Opcode::kSqrt) && a == i->operand(1) && NeverNegative(a->operand(0))
             ? a->operand(0)
             : nullptr;
}

// a / c of a constant c, or one that is broadcast, is a * (1 / c), which is a constant as well. Its
// elements are divided as f64, which rounds once to a type of at most 24 bits (53 >= 2 * 24 + 2).
Instruction* DivByConstant(Instruction* i, Rewriter& r) {
  const Instruction* by = i->operand(1);
  const Instruction* divisor = Is(by, Opcode::kBroadcast) ? by->operand(0) : by;
  if (!Float(i) || BitWidth(i->shape().type) < 16 || !divisor->IsConstant() ||
      divisor->literal() == nullptr || i->operand(0)->IsConstant())
    return nullptr;
  Literal inverse = *divisor->literal();
  for (int64_t k = 0; k < inverse.element_count(); ++k)
    inverse.SetDouble(k, 1 / inverse.GetDouble(k));
  Instruction* factor = r.Constant(std::move(inverse));
  if (divisor != by)
    factor = r.Broadcast(factor, by->shape(), by->attr<BroadcastAttrs>().dimensions);
  return r.Add(Opcode::kMultiply, i->shape(), {i->operand(0), factor});
}

// a / broadcast(b) is a * broadcast(1 / b).
Instruction* DivByBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* by = i->operand(1);
  if (!Float(i) || !Is(by, Opcode::kBroadcast)) return nullptr;
  Instruction* divisor = by->operand(0);
  if (divisor->shape().ElementCount() >= i->shape().ElementCount()) return nullptr;
  Instruction* inverse =
      r.Add(Opcode::kDivide, divisor->shape(), {r.Splat(divisor->shape(), 1), divisor});
  return r.Add(
      Opcode::kMultiply, i->shape(),
      {i->operand(0), r.Broadcast(inverse, i->shape(), by->attr<BroadcastAttrs>().dimensions)});
}

// (a / b) / c is a / (b * c); a / (b / c) is (a * c) / b.
Instruction* DivOfDiv(Instruction* i, Rewriter& r) {
  if (!Float(i)) return nullptr;
  Instruction *a = i->operand(0), *b = i->operand(1);
  if (Is(a, Opcode::kDivide) && a->users().size() == 1)
    return r.Add(Opcode::kDivide, i->shape(),
                 {a->operand(0), r.Add(Opcode::kMultiply, i->shape(), {a->operand(1), b})});
  if (Is(b, Opcode::kDivide) && b->users().size() == 1)
    return r.Add(Opcode::kDivide, i->shape(),
                 {r.Add(Opcode::kMultiply, i->shape(), {a, b->operand(1)}), b->operand(0)});
  return nullptr;
}

// a / exp(b) is a * exp(-b), a / sqrt(b) is a * rsqrt(b), a / rsqrt(b) is a * sqrt(b).
Instruction* DivByFunction(Instruction* i, Rewriter& r) {
  const Instruction* by = i->operand(1);
  if (!Float(i) || by->users().size() != 1) return nullptr;
  Instruction* factor = nullptr;
  if (Is(by, Opcode::kExponential)) {
    Instruction* negated = r.Add(Opcode::kNegate, i->shape(), {by->operand(0)});
    factor = r.Clone(by, i->shape(), {negated});
  } else if (Is(by, Opcode::kSqrt)) {
    factor = r.Add(Opcode::kRsqrt, i->shape(), {by->operand(0)});
  } else if (Is(by, Opcode::kRsqrt)) {
    factor = r.Add(Opcode::kSqrt, i->shape(), {by->operand(0)});
  }
  return factor == nullptr ? nullptr
                           : r.Add(Opcode::kMultiply, i->shape(), {i->operand(0), factor});
}

// log(exp(a)) is a.
Instruction* LogOfExp(Instruction* i, Rewriter&) {
  const Instruction* a = i->operand(0);
  return Float(i) && Is(a, Opcode::kExponential) ? a->operand(0) : nullptr;
}

// exp(a) to the power b is exp(a * b).
Instruction* PowerOfExp(Instruction* i, Rewriter& r) {
  const Instruction* a = i->operand(0);
  if (!Float(i) || !Is(a, Opcode::kExponential)) return nullptr;
  return r.Clone(a, i->shape(),
                 {r.Add(Opcode::kMultiply, i->shape(), {a->operand(0), i->operand(1)})});
}

// a to the power 3 is a * a * a, to the power -1 it is 1 / a.
Instruction* PowerOfConstant(Instruction* i, Rewriter& r) {
  if (!Float(i)) return nullptr;
  Instruction* a = i->operand(0);
  if (IsSplat(i->operand(1), -1))
    return r.Add(Opcode::kDivide, i->shape(), {r.Splat(i->shape(), 1), a});
  if (!IsSplat(i->operand(1), 3)) return nullptr;
  return r.Add(Opcode::kMultiply, i->shape(), {r.Add(Opcode::kMultiply, i->shape(), {a, a}), a});
}

constexpr Rule kRoundingRules[] = {
    {"exp-product", Opcode::kMultiply, ExpProduct},
    {"sqrt-square", Opcode::kMultiply, SqrtSquare},
    {"div-by-constant", Opcode::kDivide, DivByConstant},
    {"div-by-broadcast", Opcode::kDivide, DivByBroadcast},
    {"div-of-div", Opcode::kDivide, DivOfDiv},
    {"div-by-function", Opcode::kDivide, DivByFunction},
    {"log-of-exp", Opcode::kLog, LogOfExp},
    {"power-of-exp", Opcode::kPower, PowerOfExp},
    {"power-of-constant", Opcode::kPower, PowerOfConstant},
    {"add-float-scatter-to-zeros", Opcode::kAdd, AddScatterToZeros},
    {"add-float-update-of-zeros", Opcode::kAdd, AddUpdateOfZeros},
};

}  // namespace

absl::Span<const Rule> RoundingRules() { return kRoundingRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
