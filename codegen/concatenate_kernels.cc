// Concatenations at a root: one loop per operand over its own elements, stored at its offset in the
// result. Computed element by element, each element would need a test for each operand boundary.
// Neighbouring operands of one shape that read the same arrays may share a loop: the three
// components of a cross product read both vectors once, and strided elements of neighbouring
// components are loaded together.
#include <algorithm>

#include "codegen/iteration_space.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {
namespace {

// An operand, and where it begins along the concatenated dimension.
struct Part {
  const Instruction* value;
  int64_t start;
};

// The arrays of more than one element that `value` reads.
absl::flat_hash_set<const Instruction*> ArraysOf(const Expression& e, const Instruction* value) {
  absl::flat_hash_set<const Instruction*> arrays, seen;
  std::vector<const Instruction*> work = {value};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (!seen.insert(i).second) continue;
    const bool is_leaf = std::any_of(e.leaves.begin(), e.leaves.end(),
                                     [i](const auto& leaf) { return leaf.instruction == i; });
    if (!is_leaf)
      work.insert(work.end(), i->operands().begin(), i->operands().end());
    else if (i->shape().IsArray() && i->shape().ElementCount() > 1)
      arrays.insert(i);
  }
  return arrays;
}

void AddLoop(const KernelRequest& request, const std::vector<Part>& parts, int64_t d,
             std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  const Instruction* root = e.roots[0];
  const double cost = ElementCost(e);
  Shape domain = parts[0].value->shape();  // walked in the result's memory order
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
      std::vector<ScalarValue> values;
      for (const Part& part : parts)
        values.push_back(emitter.Emit(part.value, ElementIndex::Multi(index.multi)));
      for (size_t k = 0; k < parts.size(); ++k) {
        ElementIndex to = ElementIndex::Multi(index.multi);
        to.multi[d] = b.CreateNSWAdd(to.multi[d], b.Index(parts[k].start));
        StoreTo(b, {result.base, root->shape()}, to, values[k]);
      }
      emitter.EndScope();
    });
  };
  if (space.units() > 0) out.push_back(std::move(kernel));
}

}  // namespace

bool AddConcatenateKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddConcatenateKernels(request, nullptr, 1, out);
}

bool AddConcatenateKernels(const KernelRequest& request, AddPart add_part, size_t max_together,
                           std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kConcatenate) return false;
  const int64_t d = e.roots[0]->attr<DimensionsAttrs>().dimensions[0];
  std::vector<Part> together;  // of one shape, which read the same arrays
  absl::flat_hash_set<const Instruction*> read;
  const auto add_together = [&] {
    if (!together.empty()) AddLoop(request, together, d, out);
    together.clear();
  };
  int64_t start = 0;
  for (const Instruction* part : e.roots[0]->operands()) {
    absl::flat_hash_set<const Instruction*> arrays;
    if (max_together > 1) arrays = ArraysOf(e, part);
    if (together.size() >= max_together || arrays.empty() || arrays != read ||
        (!together.empty() && together[0].value->shape().dims != part->shape().dims))
      add_together();
    read = std::move(arrays);
    if (add_part == nullptr || !add_part(e, part, d, start, out)) together.push_back({part, start});
    start += part->shape().dims[d];
  }
  add_together();
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
