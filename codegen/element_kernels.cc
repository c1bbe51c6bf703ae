// The general strategy: a loop over the elements of the roots, each computed on its own
// (element_emitter). It applies to every expression and is therefore the last one of every target's
// list. Roots of equal shape and layout share a loop; all of them are computed before any is
// stored, since results may overwrite operands.
#include <algorithm>

#include "analysis/in_place.h"
#include "codegen/iteration_space.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {
namespace {

constexpr int64_t kLongLoop = 1024;  // shorter ones are not for threads anyway

// Whether roots of `together` lie over arrays that are read.
bool Overwrites(const KernelRequest& request, const std::vector<size_t>& together) {
  return std::any_of(together.begin(), together.end(), [&](size_t r) {
    return std::any_of(request.expression.leaves.begin(), request.expression.leaves.end(),
                       [&](const Expression::Leaf& leaf) {
                         return request.in_place(leaf.operand, static_cast<int64_t>(r));
                       });
  });
}

}  // namespace

bool IsShortMatrixVector(const Instruction& i) {
  constexpr int64_t kMaxTerms = 8;
  const ElementType type = i.shape().type;
  if (i.opcode() != Opcode::kDot || !(IsFloat(type) || IsInteger(type)) || BitWidth(type) < 32)
    return false;
  const auto& dims = i.attr<DotAttrs>();
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape();
  if (lhs.type != type || rhs.type != type || !dims.lhs_batch_dims.empty() ||
      dims.lhs_contracting_dims.size() != 1)
    return false;
  return lhs.dims[dims.lhs_contracting_dims[0]] <= kMaxTerms &&
         (lhs.rank() == 1 || rhs.rank() == 1);
}

bool AddElementKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  // For one element; in loops that LLVM makes vectors of, the larger of the two sets the pace.
  constexpr double kArray = 0.67, kStep = 0.3;
  const double steps = ElementCost(e), arithmetic = kStep * steps;
  const double memory = kArray * static_cast<double>(e.roots.size() + e.leaves.size());
  std::vector<bool> done(e.roots.size(), false);
  for (size_t first = 0; first < e.roots.size(); ++first) {
    if (done[first]) continue;
    // Roots whose elements lie in the same order share a loop: BufferSharing counts on it, which
    // may put one of them over an operand that others read.
    std::vector<size_t> together;
    for (size_t r = first; r < e.roots.size(); ++r) {
      if (done[r] || !SameMemoryOrder(e.shapes[r], e.shapes[first])) continue;
      done[r] = true;
      together.push_back(r);
    }
    const bool linear = IsLinear(e);
    const bool vectors = linear && e.shapes[first].ElementCount() >= kLongLoop;
    const double cost = vectors ? std::max(memory, arithmetic) : steps;
    const Shape walked = linear ? e.shapes[first] : WalkedShape(e, e.shapes[first]);
    using Walk = IterationSpace::Walk;
    IterationSpace space(walked, linear ? Walk::kPositions : Walk::kDimensions,
                         request.target.tiling, cost);
    space.UnrollShortRows(cost, Overwrites(request, together));
    Kernel kernel;
    kernel.units = space.units();
    kernel.is_arithmetic = arithmetic > memory;
    kernel.unit_cost = cost * static_cast<double>(space.elements_per_unit());
    kernel.emit = [e, space, together](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                       llvm::Value* end) {
      ElementEmitter emitter(b);
      emitter.set_excess(true);
      emitter.set_plain_nans(HasPlainNaNs(e));
      emitter.set_unroll(IsShortMatrixVector(*e.subject));
      BindLeaves(emitter, e, arrays);
      std::vector<ArrayRef> results;
      for (size_t r : together) results.push_back(arrays.result(r));
      space.EmitRows(b, begin, end, [&](absl::Span<const ElementIndex> row) {
        emitter.BeginScope();
        std::vector<ScalarValue>
            values;  // all reads before any write: results may lie in operands' places
        for (const ElementIndex& index : row)
          for (size_t r : together)
            values.push_back(emitter.EmitRounded(e.roots[r], index, e.root_leaves[r]));
        size_t at = 0;
        for (const ElementIndex& index : row)
          for (const ArrayRef& result : results) StoreTo(b, result, index, values[at++]);
        emitter.EndScope();
      });
    };
    if (space.units() > 0) out.push_back(std::move(kernel));
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
