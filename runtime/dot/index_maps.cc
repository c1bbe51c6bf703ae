// Flattens strided dimensions into index maps.
#include "runtime/dot/index_maps_internal.h"

namespace hlokit {
namespace {

DimList<StridedDim> Merged(std::span<const StridedDim> dims) {
  DimList<StridedDim> merged;
  for (const StridedDim& d : dims) {
    if (d.size == 1) continue;
    StridedDim* last = merged.last();
    if (last != nullptr && last->stride == d.stride * d.size) {
      *last = {last->size * d.size, d.stride};
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

}  // namespace

OwnedIndexMap::OwnedIndexMap(std::span<const StridedDim> dims) {
  DimList<StridedDim> merged = Merged(dims);
  if (merged.size() == 0) return;
  map_ = {1, merged.last()->stride, nullptr, 1};
  for (const StridedDim& d : merged) map_.size *= d.size;
  if (merged.size() == 1 || map_.size == 0) return;
  if (merged.last()->stride == 1) map_.run = merged.last()->size;
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
