// TopK in terms of sort.
#include "passes/expanders/topk_decomposer.h"

#include "passes/expander.h"
#include "passes/hlo_writer.h"

namespace hlokit {
namespace {

// compare(lhs, rhs) of the first of `types`; the others come along.
Computation* MakeComparator(Module& module, absl::Span<const ElementType> types, bool largest) {
  Computation* c = module.AddComputation(largest ? "compare-greater-than" : "compare-less-than");
  std::vector<Instruction*> sides;
  for (size_t k = 0; k < types.size(); ++k)
    for (const char* side : {"lhs", "rhs"})
      sides.push_back(c->AddParameter(sides.size(), RowMajor(types[k], {}), side));
  CompareAttrs attrs{largest ? ComparisonDirection::kGt : ComparisonDirection::kLt};
  if (IsFloat(types[0])) attrs.type = ComparisonType::kTotalOrder;
  c->set_root(
      c->Add(Opcode::kCompare, RowMajor(ElementType::kPred, {}), {sides[0], sides[1]}, attrs));
  return c;
}

bool ReadsPositions(const Instruction& topk) {
  if (topk.IsRoot()) return true;
  for (const Instruction* user : topk.users())
    if (user->opcode() != Opcode::kGetTupleElement || user->tuple_index() != 0) return true;
  return false;
}

absl::StatusOr<Instruction*> Decompose(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kTopK || i->shape().HasDynamicDims()) return nullptr;
  Instruction* x = i->operand(0);
  const auto& attrs = i->attr<TopKAttrs>();
  const Shape& shape = x->shape();
  const int64_t last = shape.rank() - 1;
  HloWriter w(r);
  if (!ReadsPositions(*i)) {
    Instruction* sort = r.Add(Opcode::kSort, shape, {x}, SortAttrs{{last}, true});
    sort->set_called({MakeComparator(*x->module(), {shape.type}, attrs.largest)});
    Instruction* values = w.SliceOf(sort, last, 0, attrs.k);
    return w.Tuple({values, w.FillInteger(i->shape().elements[1], 0)});
  }
  const ElementType type = i->shape().elements[1].type;
  Instruction* iota = r.Add(Opcode::kIota, shape.WithType(type), {}, IotaAttrs{last});
  Instruction* sort = r.Add(Opcode::kSort, Shape::Tuple({shape, iota->shape()}), {x, iota},
                            SortAttrs{{last}, true});
  sort->set_called({MakeComparator(*x->module(), {shape.type, type}, attrs.largest)});
  return w.Tuple(
      {w.SliceOf(w.Part(sort, 0), last, 0, attrs.k), w.SliceOf(w.Part(sort, 1), last, 0, attrs.k)});
}

}  // namespace

std::unique_ptr<Pass> CreateTopKDecomposer() { return MakeExpander("topk-decomposer", Decompose); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
