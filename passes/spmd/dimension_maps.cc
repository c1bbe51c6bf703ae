// For each operation, which dimension of an operand corresponds to which dimension of the result
// (-1: none): what shardings propagate along and what may be cut without communication.
//   transpose: the permutation      reduce: the kept dimensions      dot: batch and free dimensions
//   reshape: dimensions that stay whole (a group of dimensions that splits or merges maps to -1)
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/spmd/tilings.h"

namespace hlokit {
namespace {

DimVector Identity(int64_t rank) {
  DimVector map;
  for (int64_t d = 0; d < rank; ++d) map.push_back(d);
  return map;
}

// Identity but for the dimensions for which `whole` holds.
template <typename Whole>
DimVector IdentityBut(int64_t rank, Whole whole) {
  DimVector map = Identity(rank);
  for (int64_t d = 0; d < rank; ++d)
    if (whole(d)) map[d] = -1;
  return map;
}

DimVector ReduceMap(const Instruction& i, int64_t k) {
  if (k >= i.operand_count() / 2) return {};
  DimVector map;
  int64_t next = 0;
  for (int64_t d = 0; d < i.operand(k)->shape().rank(); ++d)
    map.push_back(Contains(i.attr<DimensionsAttrs>().dimensions, d) ? -1 : next++);
  return map;
}

// Dimensions that a reshape leaves as they are, ones aside.
DimVector ReshapeMap(const Instruction& i) {
  const DimVector& from = i.operand(0)->shape().dims;
  const DimVector& to = i.shape().dims;
  DimVector map(from.size(), -1);
  size_t a = 0, b = 0;
  int64_t before_a = 1, before_b = 1;
  while (a < from.size() && b < to.size()) {
    if (before_a == before_b && from[a] == to[b]) {
      map[a] = b;
      before_a *= from[a++];
      before_b *= to[b++];
    } else if (before_a * from[a] <= before_b * to[b]) {
      before_a *= from[a++];
    } else {
      before_b *= to[b++];
    }
  }
  return map;
}

DimVector DotMap(const Instruction& i, int64_t k) {
  const auto& attrs = i.attr<DotAttrs>();
  const DimVector& batch = k == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
  const DimVector& contracted = k == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
  int64_t next = batch.size();
  if (k == 1)
    next = i.shape().rank() -
           (i.operand(1)->shape().rank() - static_cast<int64_t>(batch.size() + contracted.size()));
  DimVector map;
  for (int64_t d = 0; d < i.operand(k)->shape().rank(); ++d) {
    const auto at = std::find(batch.begin(), batch.end(), d);
    if (at != batch.end()) {
      map.push_back(at - batch.begin());
    } else {
      map.push_back(Contains(contracted, d) ? -1 : next++);
    }
  }
  return map;
}

DimVector GatherMap(const Instruction& i, int64_t k) {
  const auto& attrs = i.attr<GatherAttrs>();
  if (!attrs.operand_batching_dims.empty()) return {};
  const Shape& operand = i.operand(0)->shape();
  DimVector map;
  if (k == 0) {
    size_t next = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (Contains(attrs.collapsed_slice_dims, d)) {
        map.push_back(-1);
        continue;
      }
      const int64_t to = attrs.offset_dims[next++];
      map.push_back(attrs.slice_sizes[d] == operand.dims[d] ? to : -1);
    }
    return map;
  }
  std::vector<int64_t> batch;
  for (int64_t d = 0; d < i.shape().rank(); ++d)
    if (!Contains(attrs.offset_dims, d)) batch.push_back(d);
  size_t next = 0;
  for (int64_t d = 0; d < i.operand(1)->shape().rank(); ++d)
    map.push_back(d == attrs.index_vector_dim ? -1 : batch[next++]);
  return map;
}

DimVector ConvolutionMap(const Instruction& i, int64_t k) {
  const auto& attrs = i.attr<ConvolutionAttrs>();
  if (attrs.feature_group_count != 1 || attrs.batch_group_count != 1) return {};
  DimVector map(i.operand(k)->shape().rank(), -1);
  if (k == 0) map[attrs.dim_labels.input_batch] = attrs.dim_labels.output_batch;
  if (k == 1) map[attrs.dim_labels.kernel_output_feature] = attrs.dim_labels.output_feature;
  return map;
}

// Ops that keep their rank and treat most dimensions alike.
DimVector AlikeMap(const Instruction& i, int64_t k) {
  const int64_t rank = i.operand(0)->shape().rank();
  const Shape& x = i.operand(0)->shape();
  switch (i.opcode()) {
    case Opcode::kConcatenate:
      return IdentityBut(rank,
                         [&](int64_t d) { return i.attr<DimensionsAttrs>().dimensions[0] == d; });
    case Opcode::kReverse:
      return IdentityBut(
          rank, [&](int64_t d) { return Contains(i.attr<DimensionsAttrs>().dimensions, d); });
    case Opcode::kSlice:
      return IdentityBut(rank, [&](int64_t d) {
        return i.attr<SliceAttrs>().slice[d] != SliceDim{0, x.dims[d], 1};
      });
    case Opcode::kPad:
      if (k != 0) return {};
      return IdentityBut(rank,
                         [&](int64_t d) { return i.attr<PadAttrs>().padding[d] != PaddingDim(); });
    case Opcode::kDynamicSlice:
      if (k != 0) return {};
      return IdentityBut(rank, [&](int64_t d) { return x.dims[d] != i.shape().dims[d]; });
    case Opcode::kDynamicUpdateSlice:
      if (k > 1) return {};
      return IdentityBut(rank,
                         [&](int64_t d) { return x.dims[d] != i.operand(1)->shape().dims[d]; });
    case Opcode::kReduceWindow:
      if (k >= i.operand_count() / 2 || !i.shape().IsArray()) return {};
      return IdentityBut(rank,
                         [&](int64_t d) { return i.attr<WindowAttrs>().window[d] != WindowDim(); });
    case Opcode::kSort:
      if (!i.shape().IsArray()) return {};
      return IdentityBut(rank, [&](int64_t d) { return i.attr<SortAttrs>().dimensions[0] == d; });
    default:
      return {};
  }
}

}  // namespace

DimVector DimensionMap(const Instruction& i, int64_t k) {
  if (!i.shape().IsArray() || !i.operand(k)->shape().IsArray()) return {};
  if (HasTrait(i.opcode(), kElementwise))
    return SameDims(i.operand(k)->shape(), i.shape()) ? Identity(i.shape().rank()) : DimVector();
  switch (i.opcode()) {
    case Opcode::kBroadcast:
      return i.attr<BroadcastAttrs>().dimensions;
    case Opcode::kTranspose: {
      const DimVector& order = i.attr<DimensionsAttrs>().dimensions;
      DimVector map(order.size(), -1);
      for (size_t d = 0; d < order.size(); ++d) map[order[d]] = d;
      return map;
    }
    case Opcode::kReshape:
      return ReshapeMap(i);
    case Opcode::kReduce:
      return ReduceMap(i, k);
    case Opcode::kDot:
      return i.operand_count() == 2 ? DotMap(i, k) : DimVector();
    case Opcode::kGather:
      return GatherMap(i, k);
    case Opcode::kConvolution:
      return ConvolutionMap(i, k);
    default:
      return AlikeMap(i, k);
  }
}

bool CanCut(const Instruction& i, int64_t d) {
  if (!i.shape().IsArray()) return false;
  if (i.opcode() == Opcode::kBroadcast) return true;
  if (i.opcode() == Opcode::kIota) return i.attr<IotaAttrs>().iota_dimension != d;
  const bool every = HasTrait(i.opcode(), kElementwise) || i.opcode() == Opcode::kConcatenate ||
                     i.opcode() == Opcode::kDynamicUpdateSlice;
  bool any = false;
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const DimVector map = DimensionMap(i, k);
    const bool goes_along = std::find(map.begin(), map.end(), d) != map.end();
    any |= goes_along;
    if (every && !map.empty() && !goes_along) return false;
  }
  return any;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
