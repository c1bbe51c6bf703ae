// A dynamic-update-slice at a root, in place: only the window's elements are computed and stored.
// The operand is copied first where buffer assignment gave the result a buffer of its own. Cost:
// the window's size instead of the array's, which is what makes loops over a carried array linear.
#include "analysis/in_place.h"
#include "codegen/iteration_space.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {
namespace {

// True, with the operand's number, where `i` is an input of the expression rather than computed in
// it.
bool IsLeafParameter(const Expression& e, const Instruction* i, int64_t* operand) {
  for (const Expression::Leaf& leaf : e.leaves) {
    if (leaf.instruction != i) continue;
    *operand = leaf.operand;
    return true;
  }
  return false;
}

// Index of the window's element `index` inside the updated array.
ElementIndex UpdatedIndex(ElementEmitter& emitter, const Instruction* update,
                          const ElementIndex& index) {
  Builder& b = emitter.builder();
  std::vector<llvm::Value*> multi;
  const bool vector_starts = update->operand_count() > 2 && update->operand(2)->shape().rank() == 1;
  for (int64_t d = 0; d < update->shape().rank(); ++d) {
    const int64_t limit = update->shape().dims[d] - update->operand(1)->shape().dims[d];
    if (limit == 0) {
      multi.push_back(index.multi[d]);
      continue;
    }
    const Instruction* start = update->operand(vector_starts ? 2 : 2 + d);
    const ElementIndex at = ElementIndex::Multi(
        vector_starts ? std::vector<llvm::Value*>{b.Index(d)} : std::vector<llvm::Value*>{});
    multi.push_back(b.CreateNSWAdd(
        ClampStart(b, start->shape().type, emitter.Emit(start, at).re, limit), index.multi[d]));
  }
  return ElementIndex::Multi(std::move(multi));
}

}  // namespace

bool AddUpdateKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kDynamicUpdateSlice) return false;
  const Instruction* update = e.roots[0];
  int64_t base = 0;
  if (!IsLeafParameter(e, update->operand(0), &base)) return false;
  if (!IsBitcast(update->operand(0)->shape(), e.shapes[0]) ||
      update->operand(0)->shape().type != e.shapes[0].type)
    return false;
  if (!request.in_place(base, 0)) {
    // The base must be the buffer that is copied, before anything is written.
    out.push_back(CopyKernel(base, 0, e.shapes[0], request.target));
  }
  const Shape& window = update->operand(1)->shape();
  const IterationSpace space(window, IterationSpace::Walk::kDimensions, request.target.tiling);
  Kernel kernel;
  kernel.units = space.units();
  kernel.unit_cost = ElementCost(e) * static_cast<double>(space.elements_per_unit());
  kernel.emit = [e, update, space](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                   llvm::Value* end) {
    ElementEmitter emitter(b);
    BindLeaves(emitter, e, arrays);
    // Starts do not depend on the element: emitted once, before the loops.
    const std::vector<llvm::Value*> zero(update->shape().rank(), b.Index(0));
    UpdatedIndex(emitter, update, ElementIndex::Multi(zero));
    const ArrayRef result = arrays.result(0);
    space.Emit(b, begin, end, [&](const ElementIndex& index) {
      emitter.BeginScope();
      const ScalarValue value = emitter.Emit(update->operand(1), index);
      StoreTo(b, {result.base, update->shape()}, UpdatedIndex(emitter, update, index), value);
      emitter.EndScope();
    });
  };
  if (space.units() > 0) out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
