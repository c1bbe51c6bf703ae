// Sizes that operands agree on, and the operands of size 1 that repeat to fill them.
#include <algorithm>

#include "ops/evaluate/elementwise_sizes.h"
#include "ops/evaluate/strided.h"

namespace hlokit {
namespace {

bool HasDynamicDims(const Literal& literal, const Shape& result) {
  return literal.shape().dynamic_mask != 0 && literal.shape().rank() == result.rank();
}

// What two operands agree on.
int64_t Agreed(int64_t a, int64_t b) {
  const int64_t least = std::min(a, b);
  return least == 1 ? std::max(a, b) : least;
}

DimVector AgreedSizes(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  const bool clamp = context.instruction.opcode() == Opcode::kClamp;
  DimVector sizes;
  for (size_t i = 0; i < context.operands.size(); ++i) {
    const Literal& operand = *context.operands[i];
    if (!HasDynamicDims(operand, shape)) continue;
    if (sizes.empty()) sizes.assign(shape.rank(), -1);
    for (int d = 0; d < shape.rank(); ++d) {
      if (clamp && i == 0) break;
      if (!operand.shape().IsDynamic(d) || !shape.IsDynamic(d)) continue;
      const int64_t size = operand.dynamic_size(d);
      sizes[d] = sizes[d] < 0 || clamp ? size : Agreed(sizes[d], size);
    }
  }
  return sizes;
}

}  // namespace

ElementwiseOperands::ElementwiseOperands(const EvalContext& context)
    : context_(context), sizes_(AgreedSizes(context)) {
  if (sizes_.empty() || context.operands.size() < 2) return;
  stretched_.resize(context.operands.size());
  for (size_t i = 0; i < context.operands.size(); ++i) {
    const Literal& operand = *context.operands[i];
    const Shape& shape = operand.shape();
    if (!HasDynamicDims(operand, context.instruction.shape())) continue;
    DimVector strides = RowMajorStrides(shape.dims);
    bool stretches = false;
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t size = sizes_[d] < 0 ? shape.dims[d] : sizes_[d];
      if (!shape.IsDynamic(d) || operand.dynamic_size(d) != 1 || size <= 1) continue;
      strides[d] = 0;
      stretches = true;
    }
    if (!stretches) continue;
    stretched_[i] = Literal(shape);
    CopyStrided(shape.dims, operand.data(), strides, stretched_[i].data(),
                RowMajorStrides(shape.dims), ByteWidth(operand.type()));
  }
}

const Literal& ElementwiseOperands::operator[](size_t i) const {
  const bool own = i < stretched_.size() && stretched_[i].shape().IsArray();
  return own ? stretched_[i] : *context_.operands[i];
}

void ElementwiseOperands::SetSizes(Literal& result) const {
  for (size_t d = 0; d < sizes_.size(); ++d)
    if (sizes_[d] >= 0) result.set_dynamic_size(static_cast<int>(d), sizes_[d]);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
