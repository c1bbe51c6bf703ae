// Long functions of elements in rows that are no whole vectors: what a function is of, then the
// function in place, in two kernels.
//   exp(x[:, None] - y), y of 20 elements:  result = x[:, None] - y;  result = exp(result)
// LLVM makes vectors along a row, 16 of 20 elements, and computes the rest one by one, which costs
// more than all that were in the vector. The second kernel walks memory by positions, whatever the
// rows are. Cost: the result is written and read once more.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analysis/row_lanes.h"
#include "backends/cpu/kernels/strategies_internal.h"
#include "codegen/expression.h"

namespace hlokit {
namespace {

constexpr int64_t kWholeRow = 16, kHalfRow = 8;
constexpr int64_t kLongestRow = 256;  // the rest of longer ones matters little
constexpr int64_t kManyFunctions = 1024;
constexpr int64_t kAcrossRows = 4;  // shorter rows are vectors across rows

// Whether rows along the fastest dimension leave a rest that is no vector.
bool LeavesRest(const Shape& walked) {
  DimVector sizes;  // fastest first, those of size 1 left out
  for (const int64_t d : walked.MinorToMajor())
    if (walked.dims[d] != 1) sizes.push_back(walked.dims[d]);
  if (sizes.size() < 2) return false;
  const int64_t row = sizes[0];
  if (row <= kAcrossRows && sizes[1] >= kManyFunctions) return false;
  return row < kLongestRow && row % kWholeRow != 0 && row != kHalfRow;
}

bool IsScalarSpread(const Instruction& i) {
  return i.opcode() == Opcode::kBroadcast && i.operand(0)->shape().IsScalar();
}

// Whether all that `root` is computed of, beside `value` and scalars, is elementwise work on them.
bool IsFunctionOf(const Instruction* root, const Instruction* value, const Expression& e) {
  absl::flat_hash_set<const Instruction*> seen = {value};
  std::vector<const Instruction*> todo = {root};
  while (!todo.empty()) {
    const Instruction* i = todo.back();
    todo.pop_back();
    if (!seen.insert(i).second || IsScalarSpread(*i)) continue;
    const bool is_leaf = std::any_of(e.leaves.begin(), e.leaves.end(),
                                     [i](const auto& leaf) { return leaf.instruction == i; });
    if (is_leaf || !HasTrait(i->opcode(), kElementwise) || i->operand_count() == 0 ||
        i->shape().dims != value->shape().dims ||
        i->shape().MinorToMajor() != value->shape().MinorToMajor())
      return false;
    todo.insert(todo.end(), i->operands().begin(), i->operands().end());
  }
  return true;
}

// What the function is of: the operand of a function of many steps that nothing else is read
// beside; null where there is none.
const Instruction* FindValue(const Expression& e) {
  const Instruction* root = e.roots[0];
  const ElementType type = root->shape().type;
  if (type != ElementType::kF32 && type != ElementType::kF64) return nullptr;
  for (const Instruction* i : Body(e)) {
    if (!IsCostly(*i) || i->operand_count() != 1) continue;
    const Instruction* value = i->operand(0);
    if (value->shape().type == type && value->shape().dims == root->shape().dims &&
        value->shape().MinorToMajor() == root->shape().MinorToMajor() &&
        IsFunctionOf(root, value, e))
      return value;
  }
  return nullptr;
}

}  // namespace

bool AddStagedKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || !e.roots[0]->shape().IsArray() ||
      e.shapes[0].ElementCount() < kManyFunctions || IsLinear(e) ||
      !LeavesRest(WalkedShape(e, e.shapes[0])))
    return false;
  const Instruction* value = FindValue(e);
  if (value == nullptr) return false;
  Expression first = e;
  first.roots[0] = value;
  AddElementKernels({first, request.in_place, request.target}, out);
  const double cost = ElementCost(e);
  const IterationSpace space(e.shapes[0], IterationSpace::Walk::kPositions, request.target.tiling,
                             cost);
  Kernel kernel;
  kernel.units = space.units();
  kernel.unit_cost = cost * static_cast<double>(space.elements_per_unit());
  kernel.emit = [e, space, value](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                  llvm::Value* end) {
    ElementEmitter emitter(b);
    BindLeaves(emitter, e, arrays);
    const ArrayRef result = arrays.result(0);
    emitter.Bind(value, result);
    space.Emit(b, begin, end, [&](const ElementIndex& index) {
      emitter.BeginScope();
      StoreTo(b, result, index, emitter.EmitRounded(e.roots[0], index));
      emitter.EndScope();
    });
  };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
