// dot-finish-fusion: a dot or convolution and the loop that alone reads it, and makes its results
// of the dot's elements at the same places, become one fusion, whose kernel computes them as it
// stores:
//   s = dot(a, b);  r = fusion(s, bias) [tanh(s + broadcast(bias))]  ->  r = fusion(a, b, bias)
// Only dots with eight rows, columns and terms at least: others have kernels of no tiles. Values
// stay but for excess digits of bf16. Cost: linear.
#include <algorithm>

#include "analysis/dot_finish.h"
#include "analysis/emittable.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/fusions/fused_producer.h"
#include "passes/rewrite/control_edges.h"

namespace hlokit {
namespace {

constexpr int64_t kMinSide = 8;

int64_t SizeOf(const Shape& shape, const DimVector& dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= shape.dims[d];
  return size;
}

// Whether kernels compute it in tiles.
bool IsLarge(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  const int64_t terms = SizeOf(lhs, attrs.lhs_contracting_dims);
  const auto own = [&](const Shape& shape, const DimVector& batch) {
    return shape.ElementCount() / std::max<int64_t>(1, terms * SizeOf(shape, batch));
  };
  return std::min({terms, own(lhs, attrs.lhs_batch_dims), own(rhs, attrs.rhs_batch_dims)}) >=
         kMinSide;
}

bool IsReal(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDims() && !IsComplex(shape.type) &&
         !IsPred(shape.type) && !IsSubByte(shape.type);
}

bool MayBeTaken(const Instruction& i) {
  const bool is_convolution = i.opcode() == Opcode::kConvolution;
  return (is_convolution || i.opcode() == Opcode::kDot) && i.operand_count() == 2 &&
         IsReal(i.shape()) && IsReal(i.operand(0)->shape()) && IsReal(i.operand(1)->shape()) &&
         !i.IsRoot() && !HasControlEdges(i) && i.shape().ElementCount() > 0 &&
         (is_convolution ? IsOfPlainNumbers(i) : IsLarge(i));
}

absl::StatusOr<bool> FinishDots(Computation& c) {
  return FuseIntoOnlyLoops(c, [](const Instruction& dot, const Instruction& loop) {
    return MayBeTaken(dot) && FinishesElements(loop, dot);
  });
}

}  // namespace

std::unique_ptr<Pass> CreateDotFinishFusion() {
  return MakeComputationPass("dot-finish-fusion", FinishDots);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
