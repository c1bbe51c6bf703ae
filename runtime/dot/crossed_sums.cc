// Dots over two or more dimensions that are ordered differently in the two operands:
//   sum over i, j of a[i,j] b[j,i]
// No common order is contiguous on both sides, so the smaller dense operand is first copied into
// the other's order. The copy is linear in that operand; strided access would slow every step of
// the product.
#include "runtime/dot/crossed_sums_internal.h"

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/context.h"
#include "runtime/element.h"
#include "runtime/movement/memory.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

using Stride = int64_t HlokitDotDim::*;

constexpr int64_t kLeastElements = 256;  // below, tables of offsets cost less than a copy

template <typename Desc>
auto Sums(Desc& desc) {
  return std::span(desc.dims + desc.batch_rank + desc.row_rank + desc.col_rank,
                   static_cast<size_t>(desc.sum_rank));
}

const HlokitDotDim* FastestSum(const HlokitDotDesc& desc, Stride side) {
  for (const HlokitDotDim& d : Sums(desc))
    if (d.size > 1 && d.*side == 1) return &d;
  return nullptr;
}

// The number of elements of a side that lie without gaps and apart from each other; else 0.
int64_t DenseElements(const HlokitDotDesc& desc, Stride side) {
  int64_t count = 1, last = 0;
  const int64_t rank = desc.batch_rank + desc.row_rank + desc.col_rank + desc.sum_rank;
  for (const HlokitDotDim& d : std::span(desc.dims, rank)) {
    if (d.*side == 0) continue;
    if (d.*side < 0) return 0;
    count *= d.size;
    last += (d.size - 1) * (d.*side);
  }
  return rank <= HLOKIT_MAX_COPY_DIMS && last + 1 == count ? count : 0;
}

// Gives `side` new strides: what is not summed first, then the sums in the order of the other side;
// and the copy that makes it so.
HlokitCopyDesc Reorder(HlokitDotDesc& desc, Stride side, Stride other) {
  std::vector<HlokitDotDim*> order;
  for (HlokitDotDim& d : std::span(desc.dims, desc.batch_rank + desc.row_rank + desc.col_rank))
    if (d.*side != 0) order.push_back(&d);
  const auto first_sum = static_cast<int64_t>(order.size());
  for (HlokitDotDim& d : Sums(desc)) order.push_back(&d);
  std::sort(order.begin() + first_sum, order.end(),
            [other](const auto* a, const auto* b) { return a->*other > b->*other; });
  const int64_t type = side == &HlokitDotDim::lhs ? desc.lhs_type : desc.rhs_type;
  HlokitCopyDesc copy = {
      ElementBytes(static_cast<int32_t>(type)), static_cast<int64_t>(order.size()), {}};
  int64_t stride = 1;
  for (size_t k = order.size(); k-- > 0; stride *= order[k]->size) {
    copy.dims[k] = {order[k]->size, order[k]->*side, stride};
    order[k]->*side = stride;
  }
  return copy;
}

}  // namespace

bool HasCrossedSums(const HlokitDotDesc& desc) {
  const HlokitDotDim* lhs = FastestSum(desc, &HlokitDotDim::lhs);
  const HlokitDotDim* rhs = FastestSum(desc, &HlokitDotDim::rhs);
  return lhs != nullptr && rhs != nullptr && lhs != rhs;
}

bool RunUncrossed(void* ctx, const HlokitDotDesc& desc, const char* lhs, const char* rhs, char* out,
                  DotFunction dot) {
  const int64_t left = DenseElements(desc, &HlokitDotDim::lhs);
  const int64_t right = DenseElements(desc, &HlokitDotDim::rhs);
  const bool copies_left = left > 0 && (right == 0 || left < right);
  const int64_t elements = copies_left ? left : right;
  if (elements < kLeastElements) return false;
  HlokitDotDesc reordered = desc;
  const HlokitCopyDesc copy = copies_left
                                  ? Reorder(reordered, &HlokitDotDim::lhs, &HlokitDotDim::rhs)
                                  : Reorder(reordered, &HlokitDotDim::rhs, &HlokitDotDim::lhs);
  Scratch scratch(elements * copy.element_bytes);
  if (scratch.data() == nullptr) {
    hlokit_set_error(ctx, "out of memory in a dot");
    return true;
  }
  const char*& side = copies_left ? lhs : rhs;
  hlokit_copy_strided(ctx, &copy, side, scratch.data());
  side = scratch.as<char>();
  dot(ctx, reordered, lhs, rhs, out);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
