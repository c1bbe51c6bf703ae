// Rules of truth values and bits.
//   a & not a -> 0             a | not a -> all ones      a & (a | b) -> a
//   not (a < b) -> a >= b      (not for floats: NaN)      not (a == b) -> a != b
//   select(a > b, a, b) -> max(a, b) (integers)
//   select(p, a, select(p, b, c)) -> select(p, a, c)
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

using enum ComparisonDirection;

// True if one is `not` of the other.
bool AreOpposite(const Instruction* a, const Instruction* b) {
  return (Is(a, Opcode::kNot) && a->operand(0) == b) || (Is(b, Opcode::kNot) && b->operand(0) == a);
}

Instruction* AndOpposite(Instruction* i, Rewriter& r) {
  return AreOpposite(i->operand(0), i->operand(1)) ? r.Splat(i->shape(), 0) : nullptr;
}

// All ones.
Instruction* OrOpposite(Instruction* i, Rewriter& r) {
  if (!AreOpposite(i->operand(0), i->operand(1))) return nullptr;
  return r.Splat(i->shape(), IsPred(i->shape().type) ? 1 : -1);
}

Instruction* XorOnes(Instruction* i, Rewriter& r) {
  const int k = OperandThat(i, IsAllOnes);
  return k < 0 ? nullptr : r.Add(Opcode::kNot, i->shape(), {i->operand(1 - k)});
}

// a and (a or b) is a; a or (a and b) is a.
Instruction* Absorb(Instruction* i, Rewriter&) {
  const Opcode other = Is(i, Opcode::kAnd) ? Opcode::kOr : Opcode::kAnd;
  for (int k : {0, 1}) {
    const Instruction* x = i->operand(k);
    Instruction* a = i->operand(1 - k);
    if (Is(x, other) && (x->operand(0) == a || x->operand(1) == a)) return a;
  }
  return nullptr;
}

// not (a < b) is a >= b where all values are ordered; not (a == b) is a != b everywhere.
Instruction* NotCompare(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  if (!Is(x, Opcode::kCompare) || x->users().size() != 1) return nullptr;
  CompareAttrs attrs = x->attr<CompareAttrs>();
  const ElementType type = x->operand(0)->shape().type;
  const bool ordered = !IsFloat(type) && !IsComplex(type);
  switch (attrs.direction) {
    case kEq:
      attrs.direction = kNe;
      break;
    case kNe:
      attrs.direction = kEq;
      break;
    case kLt:
      attrs.direction = kGe;
      break;
    case kGe:
      attrs.direction = kLt;
      break;
    case kGt:
      attrs.direction = kLe;
      break;
    case kLe:
      attrs.direction = kGt;
      break;
  }
  const bool equality = attrs.direction == kEq || attrs.direction == kNe;
  if (!ordered && !equality) return nullptr;
  return r.Add(Opcode::kCompare, i->shape(), {x->operand(0), x->operand(1)}, attrs);
}

// select(p, true, q) is p or q; select(p, q, false) is p and q.
Instruction* SelectAsLogic(Instruction* i, Rewriter& r) {
  Instruction* p = i->operand(0);
  if (!IsPred(i->shape().type) || p->shape().dims != i->shape().dims) return nullptr;
  if (IsSplat(i->operand(1), 1)) return r.Add(Opcode::kOr, i->shape(), {p, i->operand(2)});
  if (IsSplat(i->operand(2), 0)) return r.Add(Opcode::kAnd, i->shape(), {p, i->operand(1)});
  return nullptr;
}

// select(p, a, select(p, b, c)) is select(p, a, c), and the other way round.
Instruction* SelectOfSelect(Instruction* i, Rewriter& r) {
  Instruction* p = i->operand(0);
  for (int k : {1, 2}) {
    const Instruction* inner = i->operand(k);
    if (!Is(inner, Opcode::kSelect) || inner->operand(0) != p) continue;
    Instruction* taken = inner->operand(k);
    return k == 1 ? r.Add(Opcode::kSelect, i->shape(), {p, taken, i->operand(2)})
                  : r.Add(Opcode::kSelect, i->shape(), {p, i->operand(1), taken});
  }
  return nullptr;
}

// Integers: select(a > b, a, b) is max(a, b), and so on.
Instruction* SelectAsBound(Instruction* i, Rewriter& r) {
  const Instruction* test = i->operand(0);
  if (!Is(test, Opcode::kCompare) || !IsInteger(i->shape().type)) return nullptr;
  Instruction *a = test->operand(0), *b = test->operand(1);
  const bool same = i->operand(1) == a && i->operand(2) == b;
  const bool crossed = i->operand(1) == b && i->operand(2) == a;
  if (!same && !crossed) return nullptr;
  const ComparisonDirection how = test->attr<CompareAttrs>().direction;
  if (how == kEq || how == kNe) return (how == kEq) == same ? b : a;
  const bool greater = how == kGt || how == kGe;
  return r.Add(greater == same ? Opcode::kMaximum : Opcode::kMinimum, i->shape(), {a, b});
}

constexpr Rule kLogicRules[] = {
    {"and-opposite", Opcode::kAnd, AndOpposite},
    {"and-absorb", Opcode::kAnd, Absorb},
    {"and-repeated", Opcode::kAnd, RepeatedOperand},
    {"or-opposite", Opcode::kOr, OrOpposite},
    {"or-absorb", Opcode::kOr, Absorb},
    {"or-repeated", Opcode::kOr, RepeatedOperand},
    {"xor-ones", Opcode::kXor, XorOnes},
    {"not-compare", Opcode::kNot, NotCompare},
    {"select-as-logic", Opcode::kSelect, SelectAsLogic},
    {"select-of-select", Opcode::kSelect, SelectOfSelect},
    {"select-as-bound", Opcode::kSelect, SelectAsBound},
};

}  // namespace

absl::Span<const Rule> LogicRules() { return kLogicRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
