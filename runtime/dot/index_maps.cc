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
  // From the last dimension on: each repeats the positions of those behind it.
  table_.resize(static_cast<size_t>(map_.size));
  int64_t* const to = table_.data();
  int64_t done = 1;
  for (int64_t k = merged.size(); k-- > 0;) {
    const StridedDim& d = merged.begin()[k];
    for (int64_t i = 1; i < d.size; ++i)
      for (int64_t j = 0; j < done; ++j) to[i * done + j] = to[j] + i * d.stride;
    done *= d.size;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
