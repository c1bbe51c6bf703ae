// Which products widen their weights, by types and sizes.
#include "analysis/quantized_product.h"

#include "ops/dim_lists.h"

namespace hlokit {
namespace {

constexpr int64_t kMinWeights = 1 << 12;  // elements
constexpr int64_t kMaxRows = 32;          // of a product of 16-bit floats

bool IsWidened(ElementType type) {
  return (IsInteger(type) && BitWidth(type) <= 8) || type == ElementType::kF8E4M3FN ||
         type == ElementType::kF8E5M2;
}

}  // namespace

bool HoldsWeights(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBF16 || type == ElementType::kF16;
}

bool WidensInside(const Instruction& dot, int side, ElementType narrow) {
  if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2 || !IsWidened(narrow)) return false;
  const auto& dims = dot.attr<DotAttrs>();
  const Shape &weights = dot.operand(side)->shape(), &other = dot.operand(1 - side)->shape();
  if (!dims.lhs_batch_dims.empty() || weights.HasDynamicDims() || other.HasDynamicDims() ||
      !HoldsWeights(other.type) || !HoldsWeights(dot.shape().type) ||
      weights.ElementCount() < kMinWeights)
    return false;
  const auto& summed = side == 1 ? dims.lhs_contracting_dims : dims.rhs_contracting_dims;
  return other.type == ElementType::kF32 || FreeElements(other.dims, {summed}) <= kMaxRows;
}

bool IsQuantizedProduct(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2) return false;
  return WidensInside(dot, 1, dot.operand(1)->shape().type) ||
         WidensInside(dot, 0, dot.operand(0)->shape().type);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
