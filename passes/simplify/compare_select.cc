// Rules of comparisons and selections.
//   x == x -> true (no floats: NaN != NaN)    p == true -> p, p != true -> not p
//   select(true, a, b) -> a                   select(p, a, a) -> a
//   select(not p, a, b) -> select(p, b, a)    select(p, true, false) -> p
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

using enum ComparisonDirection;

bool Exact(const Instruction* x) { return IsInteger(x->shape().type) || IsPred(x->shape().type); }

Instruction* CompareSelf(Instruction* i, Rewriter& r) {
  if (i->operand(0) != i->operand(1) || !Exact(i->operand(0))) return nullptr;
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  return r.Splat(i->shape(), how == kEq || how == kGe || how == kLe ? 1 : 0);
}

// p != false and p == true are p; the others its negation.
Instruction* ComparePred(Instruction* i, Rewriter& r) {
  if (!IsPred(i->operand(0)->shape().type)) return nullptr;
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  if (how != kEq && how != kNe) return nullptr;
  for (int k : {0, 1}) {
    const bool zero = IsSplat(i->operand(k), 0);
    if (!zero && !IsSplat(i->operand(k), 1)) continue;
    Instruction* p = i->operand(1 - k);
    return zero == (how == kNe) ? p : r.Add(Opcode::kNot, i->shape(), {p});
  }
  return nullptr;
}

Instruction* CompareUnsignedZero(Instruction* i, Rewriter& r) {
  if (!IsUnsigned(i->operand(0)->shape().type) || !IsSplat(i->operand(1), 0)) return nullptr;
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  return how == kLt || how == kGe ? r.Splat(i->shape(), how == kGe) : nullptr;
}

// iota < 0 and iota >= 0, as index arithmetic makes them.
Instruction* CompareIotaZero(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  while (x->opcode() == Opcode::kBroadcast || x->opcode() == Opcode::kReshape) x = x->operand(0);
  const ElementType type = x->shape().type;
  if (x->opcode() != Opcode::kIota || !IsInteger(type) || BitWidth(type) < 32 ||
      !IsSplat(i->operand(1), 0))
    return nullptr;
  if (x->shape().dims[x->attr<IotaAttrs>().iota_dimension] >= (int64_t{1} << 31)) return nullptr;
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  return how == kLt || how == kGe ? r.Splat(i->shape(), how == kGe) : nullptr;
}

Instruction* SelectKnown(Instruction* i, Rewriter& r) {
  Instruction* yes = i->operand(1);
  Instruction* no = i->operand(2);
  if (yes == no) return yes;
  if (IsSplat(i->operand(0), 1)) return yes;
  if (IsSplat(i->operand(0), 0)) return no;
  if (i->operand(0)->opcode() == Opcode::kNot)
    return r.Add(Opcode::kSelect, i->shape(), {i->operand(0)->operand(0), no, yes});
  return nullptr;
}

// select(p, true, false) is p.
Instruction* SelectPred(Instruction* i, Rewriter& r) {
  if (!IsPred(i->shape().type) || i->operand(0)->shape().dims != i->shape().dims) return nullptr;
  if (IsSplat(i->operand(1), 1) && IsSplat(i->operand(2), 0)) return i->operand(0);
  if (IsSplat(i->operand(1), 0) && IsSplat(i->operand(2), 1))
    return r.Add(Opcode::kNot, i->shape(), {i->operand(0)});
  return nullptr;
}

constexpr Rule kCompareSelectRules[] = {
    {"compare-self", Opcode::kCompare, CompareSelf},
    {"compare-pred", Opcode::kCompare, ComparePred},
    {"compare-unsigned-zero", Opcode::kCompare, CompareUnsignedZero},
    {"compare-iota-zero", Opcode::kCompare, CompareIotaZero},
    {"select-known", Opcode::kSelect, SelectKnown},
    {"select-pred", Opcode::kSelect, SelectPred},
};

}  // namespace

absl::Span<const Rule> CompareSelectRules() { return kCompareSelectRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
