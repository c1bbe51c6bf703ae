// reduce-decomposer: moves layout changes of reduces into copies.
// A reduce into a layout other than the operand's, its reduced dimensions left out, becomes a
// reduce into that one and a copy, which comes after a convert to a type that is no wider. Operands
// in other layouts than the first are copied into its own. Exact. Cost: linear.
#include <optional>

#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

// The operand's order of the dimensions that are left.
Shape KeptOrder(const Shape& operand, const Shape& result, const DimVector& reduced) {
  DimVector order;
  for (int64_t d : operand.MinorToMajor()) {
    if (Contains(reduced, d)) continue;
    int64_t position = d;
    for (int64_t gone : reduced) position -= gone < d ? 1 : 0;
    order.push_back(position);
  }
  return Shape::ArrayWithLayout(result.type, result.dims, order);
}

Instruction* CopyTo(Instruction* x, const Shape& shape, Rewriter& r) {
  return SameShape(x->shape(), shape) ? x : r.Add(Opcode::kCopy, shape, {x});
}

// The operands with all arrays in the order of the first.
std::vector<Instruction*> AlignedOperands(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  const DimVector order = operands[0]->shape().MinorToMajor();
  for (size_t k = 1; k < operands.size() / 2; ++k) {
    const Shape& own = operands[k]->shape();
    operands[k] = CopyTo(operands[k], Shape::ArrayWithLayout(own.type, own.dims, order), r);
  }
  return operands;
}

// What a reduce of one array is best left in, where that is not its own layout.
std::optional<Shape> BetterOrder(const Instruction* i) {
  if (i->opcode() != Opcode::kReduce || i->shape().HasDynamicDims() || !i->shape().IsArray())
    return std::nullopt;
  Shape kept = KeptOrder(i->operand(0)->shape(), i->shape(), i->attr<DimensionsAttrs>().dimensions);
  if (kept.MinorToMajor() == i->shape().MinorToMajor()) return std::nullopt;
  return kept;
}

// Whether `convert` alone reads what it converts, in its layout, and leaves no more bytes to copy.
bool NarrowsBeforeCopy(const Instruction* convert) {
  const Shape& from = convert->operand(0)->shape();
  return convert->opcode() == Opcode::kConvert && convert->operand(0)->users().size() == 1 &&
         !convert->operand(0)->IsRoot() && !HasControlEdges(*convert) &&
         BitWidth(convert->shape().type) <= BitWidth(from.type) &&
         convert->shape().MinorToMajor() == from.MinorToMajor();
}

Instruction* DecomposeConvertedReduce(Instruction* convert, Rewriter& r) {
  Instruction* reduce = convert->operand(0);
  const std::optional<Shape> kept = BetterOrder(reduce);
  if (!kept || !NarrowsBeforeCopy(convert)) return nullptr;
  Instruction* made = r.Clone(reduce, *kept, reduce->operands());
  made->set_metadata(reduce->shared_metadata());
  return CopyTo(r.Clone(convert, kept->WithType(convert->shape().type), {&made, 1}),
                convert->shape(), r);
}

absl::StatusOr<Instruction*> DecomposeReduce(Instruction* i, Rewriter& r) {
  if (i->opcode() == Opcode::kConvert) return DecomposeConvertedReduce(i, r);
  if (i->opcode() != Opcode::kReduce || i->shape().HasDynamicDims()) return nullptr;
  const Shape& operand = i->operand(0)->shape();
  const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
  HloWriter w(r);
  if (i->shape().IsArray()) {
    const std::optional<Shape> kept = BetterOrder(i);
    if (!kept || (i->users().size() == 1 && i->users()[0]->opcode() == Opcode::kConvert &&
                  NarrowsBeforeCopy(i->users()[0])))
      return nullptr;
    return CopyTo(r.Clone(i, *kept, i->operands()), i->shape(), r);
  }
  std::vector<Shape> shapes;
  bool differs = false;
  for (const Shape& part : i->shape().elements) {
    shapes.push_back(KeptOrder(operand, part, reduced));
    differs |= shapes.back().MinorToMajor() != part.MinorToMajor();
  }
  const std::vector<Instruction*> operands = AlignedOperands(i, r);
  if (!differs)
    return absl::MakeConstSpan(operands) == i->operands() ? nullptr
                                                          : r.Clone(i, i->shape(), operands);
  Instruction* reduce = r.Clone(i, Shape::Tuple(shapes), operands);
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < shapes.size(); ++k)
    parts.push_back(CopyTo(w.Part(reduce, k), i->shape().elements[k], r));
  return w.Tuple(parts);
}

}  // namespace

std::unique_ptr<Pass> CreateReduceDecomposer() {
  return MakeExpander("reduce-decomposer", DecomposeReduce);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
