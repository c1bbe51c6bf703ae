// Sorts of dynamic length, and the windows that pick elements.
#include <algorithm>
#include <limits>

#include "passes/dynamic/dynamic_arrays_internal.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

using Sizes = DynamicArrays::Sizes;

// The comparator over one more pair of pred, which say what is beyond the size: that comes last, in
// the order in which it stands.
Computation* BehindIsLast(const Computation& comparator, Module& module) {
  Computation* c = module.AddComputation("behind_is_last");
  std::vector<Instruction*> arguments;
  for (const Instruction* p : comparator.parameters())
    arguments.push_back(c->AddParameter(p->parameter_number(), p->shape()));
  const Shape flag = RowMajor(ElementType::kPred, {});
  const int64_t n = comparator.parameter_count();
  Instruction *first = c->AddParameter(n, flag), *second = c->AddParameter(n + 1, flag);
  Rewriter r(*c);
  HloWriter w(r);
  Instruction* before = CopyBody(comparator, arguments, *c);
  c->set_root(
      w.Binary(Opcode::kAnd, w.Unary(Opcode::kNot, first), w.Binary(Opcode::kOr, before, second)));
  return c;
}

void PadSort(DynamicArrays& a, Instruction* i) {
  HloWriter& w = a.w();
  const int64_t dimension = i->attr<SortAttrs>().dimensions[0];
  const int64_t n = i->operand_count();
  std::vector<Instruction*> operands = a.PaddedOperands(i);
  std::vector<Sizes> sizes;
  for (const Instruction* x : i->operands()) sizes.push_back(a.SizesOf(x));
  Instruction* inside = nullptr;  // of the first operand that has a size
  for (int64_t k = 0; k < n && inside == nullptr; ++k)
    inside = a.Inside(i->operand(k), [&](int64_t d) { return d == dimension; });
  Instruction* made;
  if (inside == nullptr) {
    made = a.CloneAtBounds(i);
    if (i->shape().IsArray()) return a.Note(i, made, sizes[0]);
  } else {
    operands.push_back(w.Unary(Opcode::kNot, inside));
    std::vector<Shape> shapes;
    for (const Instruction* x : operands) shapes.push_back(x->shape());
    made = a.rewriter().Clone(i, Shape::Tuple(std::move(shapes)), operands);
    made->set_called({BehindIsLast(*i->called(0), *i->module())});
  }
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < n; ++k) parts.push_back(w.Part(made, k));
  if (i->shape().IsArray()) return a.Note(i, parts[0], sizes[0]);
  a.NoteParts(i, parts, sizes);
}

// What is beyond the size loses against all values, and ties in favour of what is in front.
void PadTopK(DynamicArrays& a, Instruction* i) {
  HloWriter& w = a.w();
  Instruction* x = i->operand(0);
  const ElementType type = x->shape().type;
  const int64_t last = x->shape().rank() - 1;
  Instruction* filler = i->attr<TopKAttrs>().largest ? w.Lowest(type)
                        : IsFloat(type) ? w.Number(type, std::numeric_limits<double>::quiet_NaN())
                                        : w.Highest(type);
  Instruction* filled = a.Filled(x, filler, [&](int64_t d) { return d == last; });
  Instruction* made = a.rewriter().Clone(i, AtBounds(i->shape()), {filled});
  Sizes sizes = a.SizesOf(x);
  sizes[last] = nullptr;
  a.NoteParts(i, {w.Part(made, 0), w.Part(made, 1)}, {sizes, sizes});
}

// Whether the first element of a window that all others are worse than stays picked.
bool PicksExtremum(const Computation& select, ComparisonDirection strict,
                   ComparisonDirection weak) {
  const Instruction* root = select.root();
  if (root->opcode() != Opcode::kCompare || select.parameter_count() != 2 ||
      root->operand(0) != select.parameter(0) || root->operand(1) != select.parameter(1))
    return false;
  const ComparisonDirection direction = root->attr<CompareAttrs>().direction;
  return direction == strict || direction == weak;
}

bool PicksLargest(const Instruction& i) {
  return PicksExtremum(*i.called(0), ComparisonDirection::kGt, ComparisonDirection::kGe);
}

bool CanSelectAndScatter(const Instruction& i) {
  const bool picks = PicksLargest(i) || PicksExtremum(*i.called(0), ComparisonDirection::kLt,
                                                      ComparisonDirection::kLe);
  return picks && HasKnownIdentity(*i.called(1), i.shape().type);
}

// What is beyond the operand's size is picked by no window with another element, and what is beyond
// the source's changes nothing.
void PadSelectAndScatter(DynamicArrays& a, Instruction* i) {
  HloWriter& w = a.w();
  const auto all = [](int64_t) { return true; };
  Instruction *x = i->operand(0), *source = i->operand(1);
  const ElementType type = x->shape().type;
  Instruction* worst = PicksLargest(*i) ? w.Lowest(type) : w.Highest(type);
  Instruction* filled = a.Filled(x, worst, all);
  Instruction* given = a.Filled(source, IdentityOf(*i->called(1), type, w), all);
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), {filled, given, a.Padded(i->operand(2))}),
         a.SizesOf(x));
}

constexpr PadRule kPadOrderRules[] = {
    {Opcode::kSelectAndScatter, CanSelectAndScatter, PadSelectAndScatter},
    {Opcode::kSort, Always, PadSort},
    {Opcode::kTopK, Always, PadTopK},
};

}  // namespace

absl::Span<const PadRule> PadOrderRules() { return kPadOrderRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
