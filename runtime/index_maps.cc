// Flattens strided dimensions into index maps.
#include "runtime/index_maps_internal.h"

namespace hlokit {
namespace {

std::vector<StridedDim> Merged(const std::vector<StridedDim>& dims) {
  std::vector<StridedDim> merged;
  for (const StridedDim& d : dims) {
    if (d.size == 1) continue;
    if (!merged.empty() && merged.back().stride == d.stride * d.size) {
      merged.back() = {merged.back().size * d.size, d.stride};
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

}  // namespace

OwnedIndexMap::OwnedIndexMap(const std::vector<StridedDim>& dims) {
  const std::vector<StridedDim> merged = Merged(dims);
  if (merged.empty()) return;
  map_ = {1, merged.back().stride, nullptr, 1};
  for (const StridedDim& d : merged) map_.size *= d.size;
  if (merged.size() == 1 || map_.size == 0) return;
  if (merged.back().stride == 1) map_.run = merged.back().size;
  table_.reserve(map_.size);
  table_.push_back(0);
  for (const StridedDim& d : merged) {  // each dimension multiplies the list before it
    std::vector<int64_t> next;
    next.reserve(map_.size);
    for (int64_t offset : table_) {
      for (int64_t i = 0; i < d.size; ++i) next.push_back(offset + i * d.stride);
    }
    table_ = std::move(next);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
