// argmax and argmin without a running pair.
// argmax-rewriter. Matches reduces of values and their indices whose reducer keeps the larger (or
// smaller) value, NaN above all, and of equal ones the lower index, as JAX writes argmax. Gives two
// plain reductions: the largest value, and the least index where it stands. Cost: linear.
//   (v, i) = reduce(x, iota, -inf, 0), argmax
//     ->  v = reduce-max(x), i = reduce-min(select(x == v or x != x, iota, last))
#include <cmath>

#include "ir/module.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

bool IsParameter(const Instruction* i, int64_t number) {
  return i->IsParameter() && i->parameter_number() == number;
}

bool IsCompare(const Instruction* i, ComparisonDirection direction, int64_t a, int64_t b) {
  return i->opcode() == Opcode::kCompare && i->attr<CompareAttrs>().direction == direction &&
         i->attr<CompareAttrs>().type != ComparisonType::kTotalOrder &&
         IsParameter(i->operand(0), a) && IsParameter(i->operand(1), b);
}

// Calls match(one, other) with the operands of an and or or, either way round.
template <typename Match>
bool EitherWay(const Instruction* i, Opcode opcode, Match match) {
  return i->opcode() == opcode &&
         (match(i->operand(0), i->operand(1)) || match(i->operand(1), i->operand(0)));
}

// The first value wins: it is larger (`how`), or NaN.
bool IsBetter(const Instruction* i, ComparisonDirection how, bool floats) {
  if (!floats) return IsCompare(i, how, 0, 2);
  return EitherWay(i, Opcode::kOr, [&](const Instruction* a, const Instruction* b) {
    return IsCompare(a, how, 0, 2) && IsCompare(b, ComparisonDirection::kNe, 0, 0);
  });
}

bool IsEqualAndBefore(const Instruction* i) {
  return EitherWay(i, Opcode::kAnd, [](const Instruction* a, const Instruction* b) {
    return IsCompare(a, ComparisonDirection::kEq, 0, 2) &&
           IsCompare(b, ComparisonDirection::kLt, 1, 3);
  });
}

// The better of the values: a select, or of integers what algsimp makes of it.
bool KeepsBetter(const Instruction* i, ComparisonDirection how, bool floats) {
  const Opcode extremum = how == ComparisonDirection::kGt ? Opcode::kMaximum : Opcode::kMinimum;
  if (!floats && i->opcode() == extremum)
    return (IsParameter(i->operand(0), 0) && IsParameter(i->operand(1), 2)) ||
           (IsParameter(i->operand(0), 2) && IsParameter(i->operand(1), 0));
  return i->opcode() == Opcode::kSelect && IsParameter(i->operand(1), 0) &&
         IsParameter(i->operand(2), 2) && IsBetter(i->operand(0), how, floats);
}

// The reducer of argmax (kGt) or argmin (kLt).
bool Reduces(const Computation& reducer, ComparisonDirection how) {
  const Instruction* root = reducer.root();
  if (root->opcode() != Opcode::kTuple || root->operand_count() != 2) return false;
  const Instruction *value = root->operand(0), *index = root->operand(1);
  if (index->opcode() != Opcode::kSelect || !IsParameter(index->operand(1), 1) ||
      !IsParameter(index->operand(2), 3))
    return false;
  const bool floats = IsFloat(value->shape().type);
  return KeepsBetter(value, how, floats) &&
         EitherWay(index->operand(0), Opcode::kOr, [&](const Instruction* a, const Instruction* b) {
           return IsBetter(a, how, floats) && IsEqualAndBefore(b);
         });
}

// Counts from zero along the dimension.
bool CountsAlong(const Instruction* i, int64_t dimension) {
  if (i->opcode() == Opcode::kIota) return i->attr<IotaAttrs>().iota_dimension == dimension;
  return i->opcode() == Opcode::kBroadcast && i->operand(0)->opcode() == Opcode::kIota &&
         i->operand(0)->shape().rank() == 1 && i->attr<BroadcastAttrs>().dimensions[0] == dimension;
}

// No value is worse than the one that the reduction starts with.
bool StartsWorst(const Instruction* i, ComparisonDirection how) {
  if (!i->IsConstant() || i->literal() == nullptr) return false;
  const ElementType type = i->shape().type;
  if (type == ElementType::kS32)
    return i->literal()->GetInt(0) == (how == ComparisonDirection::kGt ? INT32_MIN : INT32_MAX);
  const double worst = how == ComparisonDirection::kGt ? -HUGE_VAL : HUGE_VAL;
  return IsFloat(type) && i->literal()->GetDouble(0) == worst;
}

bool IsZero(const Instruction* i) {
  return i->IsConstant() && i->literal() != nullptr && IsInteger(i->shape().type) &&
         i->literal()->GetInt(0) == 0;
}

Instruction* Reduce(Instruction* x, Instruction* start, int64_t dimension, const Shape& shape,
                    Opcode opcode, Rewriter& r) {
  const Shape scalar = Shape::Scalar(shape.type).WithDefaultLayout();
  Computation* reducer = x->module()->AddComputation("argmax_part");
  Instruction* a = reducer->AddParameter(0, scalar, "a");
  Instruction* b = reducer->AddParameter(1, scalar, "b");
  reducer->set_root(reducer->Add(opcode, scalar, {a, b}));
  Instruction* made = r.Add(Opcode::kReduce, shape, {x, start}, DimensionsAttrs{{dimension}});
  made->set_called({reducer});
  return made;
}

absl::StatusOr<Instruction*> RewriteArgMax(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduce || i->operand_count() != 4 ||
      i->attr<DimensionsAttrs>().dimensions.size() != 1)
    return nullptr;
  Instruction *x = i->operand(0), *index = i->operand(1);
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  const ElementType counts = index->shape().type;
  const bool largest = Reduces(*i->to_apply(), ComparisonDirection::kGt);
  if (!largest && !Reduces(*i->to_apply(), ComparisonDirection::kLt)) return nullptr;
  const bool exact = counts == ElementType::kS32 || counts == ElementType::kS64;
  if (!exact || x->shape().HasDynamicDims() || x->shape().dims[d] == 0 || !CountsAlong(index, d) ||
      !IsZero(i->operand(3)) ||
      !StartsWorst(i->operand(2), largest ? ComparisonDirection::kGt : ComparisonDirection::kLt))
    return nullptr;
  Instruction* best = Reduce(x, i->operand(2), d, i->shape().elements[0],
                             largest ? Opcode::kMaximum : Opcode::kMinimum, r);
  DimVector kept;
  for (int64_t k = 0; k < x->shape().rank(); ++k)
    if (k != d) kept.push_back(k);
  const Shape pred = Shape::Array(ElementType::kPred, x->shape().dims);
  const auto compare = [&](Instruction* with, ComparisonDirection how) {
    return r.Add(Opcode::kCompare, pred, {x, with}, CompareAttrs{how});
  };
  Instruction* equal = compare(r.Broadcast(best, x->shape(), kept), ComparisonDirection::kEq);
  Instruction* found = equal;
  if (IsFloat(x->shape().type))
    found = r.Add(Opcode::kOr, pred, {equal, compare(x, ComparisonDirection::kNe)});
  Literal last(Shape::Scalar(counts));
  last.SetInt(0, counts == ElementType::kS32 ? INT32_MAX : INT64_MAX);
  Instruction* none = r.Constant(std::move(last));
  Instruction* places =
      r.Add(Opcode::kSelect, index->shape(), {found, index, r.Broadcast(none, index->shape(), {})});
  Instruction* first = Reduce(places, none, d, i->shape().elements[1], Opcode::kMinimum, r);
  return r.Add(Opcode::kTuple, i->shape(), {best, first});
}

}  // namespace

std::unique_ptr<Pass> CreateArgmaxRewriter() {
  return MakeExpander("argmax-rewriter", RewriteArgMax);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
