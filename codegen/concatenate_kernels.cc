// Concatenations at a root: one loop per operand over its own elements, stored at its offset in the
// result. Computed element by element, each element would need a test for each operand boundary.
#include "codegen/iteration_space.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {

bool AddConcatenateKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddConcatenateKernels(request, nullptr, out);
}

bool AddConcatenateKernels(const KernelRequest& request, AddPart add_part,
                           std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kConcatenate) return false;
  const Instruction* root = e.roots[0];
  const int64_t d = root->attr<DimensionsAttrs>().dimensions[0];
  int64_t start = 0;
  const double cost = ElementCost(e);
  for (const Instruction* part : root->operands()) {
    if (add_part != nullptr && add_part(e, part, d, start, out)) {
      start += part->shape().dims[d];
      continue;
    }
    Shape domain = part->shape();  // walked in the result's memory order
    domain.has_layout = root->shape().has_layout;
    domain.layout = root->shape().layout;
    IterationSpace space(domain, IterationSpace::Walk::kDimensions, request.target.tiling);
    if (domain.dims[d] == 1) space.UnrollShortRows(cost);  // one of each row at most
    Kernel kernel;
    kernel.units = space.units();
    kernel.unit_cost = cost * static_cast<double>(space.elements_per_unit());
    kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
      ElementEmitter emitter(b);
      BindLeaves(emitter, e, arrays);
      const ArrayRef result = arrays.result(0);
      space.Emit(b, begin, end, [&](const ElementIndex& index) {
        emitter.BeginScope();
        ElementIndex to = ElementIndex::Multi(index.multi);
        to.multi[d] = b.CreateNSWAdd(to.multi[d], b.Index(start));
        StoreTo(b, {result.base, root->shape()}, to,
                emitter.Emit(part, ElementIndex::Multi(index.multi)));
        emitter.EndScope();
      });
    };
    if (space.units() > 0) out.push_back(std::move(kernel));
    start += part->shape().dims[d];
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
