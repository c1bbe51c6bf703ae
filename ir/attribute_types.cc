// Device groups: from the iota form to lists.
#include "ir/attribute_types.h"

namespace hlokit {
namespace {

// The numbers 0..n-1 laid out over `reshape`, transposed by `perm` and read row-major.
std::vector<int64_t> IotaOrder(const DimVector& reshape, const DimVector& perm) {
  DimVector order(reshape.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = perm.empty() ? static_cast<int64_t>(i) : perm[i];
  const DimVector strides = RowMajorStrides(reshape);
  DimVector dims(reshape.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = reshape[order[i]];
  std::vector<int64_t> out;
  ForEachIndex(dims, [&](absl::Span<const int64_t> index) {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * strides[order[i]];
    out.push_back(at);
  });
  return out;
}

}  // namespace

std::vector<std::vector<int64_t>> ReplicaGroups::Expand() const {
  if (form != Form::kIota) return lists;
  const std::vector<int64_t> order = IotaOrder(reshape_dims, transpose_perm);
  const int64_t size = iota_dims.empty() ? 1 : iota_dims.back();
  std::vector<std::vector<int64_t>> groups;
  for (size_t i = 0; size > 0 && i < order.size(); i += size)
    groups.emplace_back(order.begin() + i, order.begin() + std::min(order.size(), i + size));
  return groups;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
