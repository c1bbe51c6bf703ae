// Which products widen their weights, by types and sizes.
#include "analysis/quantized_product.h"

#include "ops/dim_lists.h"

namespace hlokit {
namespace {

constexpr int64_t kLeastWeights = 1 << 12;  // elements
constexpr int64_t kFewRows = 32;            // of a product of 16-bit floats

}  // namespace

bool IsWidenedByte(ElementType type) {
  return (IsInteger(type) && BitWidth(type) <= 8) || type == ElementType::kF8E4M3FN ||
         type == ElementType::kF8E5M2;
}

bool WidensInside(const Instruction& dot, int side, ElementType narrow) {
  if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2 || !IsWidenedByte(narrow))
    return false;
  const auto& dims = dot.attr<DotAttrs>();
  const Shape &weights = dot.operand(side)->shape(), &other = dot.operand(1 - side)->shape();
  const auto is_float = [](ElementType t) {
    return t == ElementType::kF32 || t == ElementType::kBF16 || t == ElementType::kF16;
  };
  if (!dims.lhs_batch_dims.empty() || weights.HasDynamicDims() || other.HasDynamicDims() ||
      !is_float(other.type) || !is_float(dot.shape().type) ||
      weights.ElementCount() < kLeastWeights)
    return false;
  const auto& summed = side == 1 ? dims.lhs_contracting_dims : dims.rhs_contracting_dims;
  return other.type == ElementType::kF32 || FreeElements(other.dims, {summed}) <= kFewRows;
}

bool IsQuantizedProduct(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2) return false;
  return WidensInside(dot, 1, dot.operand(1)->shape().type) ||
         WidensInside(dot, 0, dot.operand(0)->shape().type);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
