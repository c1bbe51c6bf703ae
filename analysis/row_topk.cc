// Which topk are RowTopK. Shorter rows cost a sort little; of longer ones a block's registers hold
// no copy. Cost: that of looking at the shapes.
#include "analysis/row_topk.h"

namespace hlokit {
namespace {

constexpr int64_t kShortestTopK = 33, kLongestTopK = 4096, kMaxTopK = 16;

bool IsOrdered(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF16 || type == ElementType::kBF16 ||
         (IsInteger(type) && !IsSubByte(type) && BitWidth(type) <= 32);
}

}  // namespace

std::optional<RowTopK> RowTopKOf(const Instruction& i) {
  if (i.opcode() != Opcode::kTopK || !i.operand(0)->shape().IsArray()) return std::nullopt;
  const Shape& from = i.operand(0)->shape();
  if (from.HasDynamicDims() || i.shape().HasDynamicDims() || from.rank() == 0 ||
      !from.IsRowMajor() || !IsOrdered(from.type))
    return std::nullopt;
  for (const Shape& result : i.shape().elements)
    if (!result.IsRowMajor()) return std::nullopt;
  const TopKAttrs& attrs = i.attr<TopKAttrs>();
  const int64_t length = from.dims.back();
  if (i.shape().elements[1].type != ElementType::kS32 || length < kShortestTopK ||
      length > kLongestTopK || attrs.k < 1 || attrs.k > kMaxTopK || from.ElementCount() == 0)
    return std::nullopt;
  return RowTopK{from.ElementCount() / length, length, attrs.k, attrs.largest};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
