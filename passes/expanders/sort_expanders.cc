// Sorts in the terms that targets have.
//
// Stable sorts by position, and start indices one by one.
#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// The comparator, where positions decide where neither value comes first: those of operand
// `position`, or of one after all others (-1).
Computation* WithPositions(Computation& less, ElementType type, int64_t position) {
  Computation* c = less.module()->AddComputation(absl::StrCat(less.name(), ".stable"));
  std::vector<Instruction*> forward, backward;
  for (const Instruction* parameter : less.parameters())
    forward.push_back(c->AddParameter(c->parameter_count(), parameter->shape(), parameter->name()));
  for (size_t k = 0; k < forward.size(); k += 2) {
    backward.push_back(forward[k + 1]);
    backward.push_back(forward[k]);
  }
  Instruction *lhs, *rhs;
  if (position >= 0) {
    lhs = forward[2 * position];
    rhs = forward[2 * position + 1];
  } else {
    const Shape scalar = RowMajor(type, {});
    lhs = c->AddParameter(c->parameter_count(), scalar, "position_lhs");
    rhs = c->AddParameter(c->parameter_count(), scalar, "position_rhs");
  }
  Rewriter r(*c);
  HloWriter w(r);
  Instruction* first = w.Call(&less, forward);
  Instruction* second = w.Call(&less, backward);
  Instruction* equal = w.Compare(first, second, ComparisonDirection::kEq);
  c->set_root(w.Select(equal, w.Compare(lhs, rhs, ComparisonDirection::kLt), first));
  return c;
}

// The operand of a sort that is each element's position already; -1 where none is. Only s32, as
// top-k makes them.
int64_t PositionOperand(const Instruction& sort, int64_t dim) {
  for (int64_t k = 0; k < sort.operand_count(); ++k) {
    const Instruction& operand = *sort.operand(k);
    if (operand.opcode() == Opcode::kIota && operand.shape().type == ElementType::kS32 &&
        operand.attr<IotaAttrs>().iota_dimension == dim)
      return k;
  }
  return -1;
}

absl::StatusOr<Instruction*> ExpandStableSort(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kSort || !i->attr<SortAttrs>().is_stable ||
      i->operand(0)->shape().HasDynamicDims())
    return nullptr;
  const Shape& shape = i->operand(0)->shape();
  const int64_t dim = i->attr<SortAttrs>().dimensions[0];
  const ElementType type = shape.dims[dim] > INT32_MAX ? ElementType::kS64 : ElementType::kS32;
  HloWriter w(r);
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  if (const int64_t k = PositionOperand(*i, dim); k >= 0) {
    Instruction* sort = r.Clone(i, i->shape(), operands);
    sort->mutable_attr<SortAttrs>().is_stable = false;
    sort->set_called({WithPositions(*i->to_apply(), ElementType::kS32, k)});
    return sort;
  }
  operands.push_back(r.Add(Opcode::kIota, RetypedLike(shape, type), {}, IotaAttrs{dim}));
  std::vector<Shape> shapes;
  for (Instruction* operand : operands) shapes.push_back(operand->shape());
  Instruction* sort =
      r.Add(Opcode::kSort, Shape::Tuple(std::move(shapes)), operands, SortAttrs{{dim}, false});
  sort->set_called({WithPositions(*i->to_apply(), type, -1)});
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < i->operand_count(); ++k) parts.push_back(w.Part(sort, k));
  return i->shape().IsTuple() ? w.Tuple(parts) : parts[0];
}

absl::StatusOr<Instruction*> SplitIndex(Instruction* i, Rewriter& r) {
  const bool slice = i->opcode() == Opcode::kDynamicSlice;
  if (!slice && i->opcode() != Opcode::kDynamicUpdateSlice) return nullptr;
  const int64_t first = slice ? 1 : 2;
  if (i->operand_count() != first + 1 || i->operand(first)->shape().rank() != 1) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().begin() + first);
  for (int64_t d = 0; d < i->shape().rank(); ++d)
    operands.push_back(w.ElementOf(i->operand(first), d));
  return r.Clone(i, i->shape(), operands);
}

}  // namespace

// stable-sort-expander: a stable sort becomes one that need not be: positions come along as a last
// operand, or as one that is an s32 iota along the sorted dimension already, and decide where the
// keys compare equal both ways. Exact.
std::unique_ptr<Pass> CreateStableSortExpander() {
  return MakeExpander("stable-sort-expander", ExpandStableSort);
}

// dynamic-index-splitter: starts of dynamic-slice and dynamic-update-slice that come as one list
// become a scalar each. Exact.
std::unique_ptr<Pass> CreateDynamicIndexSplitter() {
  return MakeExpander("dynamic-index-splitter", SplitIndex);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
