// Cuts into equal tiles, one a device.
#include "ops/collective/tiling.h"

#include <algorithm>
#include <numeric>

namespace hlokit {

bool Tiling::IsTrivial() const {
  return std::all_of(tiles.begin(), tiles.end(), [](int64_t n) { return n == 1; });
}

Tiling WholeOn(const Shape& shape, int64_t devices) {
  return {DimVector(shape.rank(), 1), std::vector<int64_t>(devices, 0)};
}

int64_t TileCount(const Tiling& tiling) {
  int64_t count = 1;
  for (const int64_t tiles : tiling.tiles) count *= tiles;
  return count;
}

void SetDevices(std::vector<int64_t> order, Sharding& sharding) {
  const int64_t devices = order.size();
  for (int64_t rows = 1; rows < devices; ++rows) {
    if (devices % rows != 0) continue;
    const int64_t columns = devices / rows;
    bool matches = true;
    for (int64_t k = 0; k < devices && matches; ++k)
      matches = order[k] == (k % rows) * columns + k / rows;
    if (!matches) continue;
    sharding.iota = true;
    sharding.reshape_dims = rows == 1 ? DimVector{devices} : DimVector{rows, columns};
    if (rows != 1) sharding.transpose_perm = {1, 0};
    return;
  }
  sharding.devices = std::move(order);
}

Sharding ShardingOf(const Tiling& tiling, absl::Span<const int64_t> manual) {
  Sharding sharding;
  const int64_t tiles = TileCount(tiling), devices = tiling.tile_of.size();
  if (tiles == 1 && manual.empty()) return sharding;
  sharding.kind = Sharding::Kind::kTiled;
  sharding.tile_dims = tiling.tiles;
  if (!manual.empty()) {
    const int64_t groups = *std::max_element(manual.begin(), manual.end()) + 1;
    sharding.tile_dims.push_back(groups);
    sharding.last_tile_dims = {"manual"};
    if (tiles * groups != devices) {
      sharding.tile_dims.push_back(devices / tiles / groups);
      sharding.last_tile_dims.push_back("replicated");
    }
  } else if (tiles != devices) {
    sharding.tile_dims.push_back(devices / tiles);
    sharding.last_tile_dim_replicate = true;
  }
  std::vector<int64_t> order(devices);
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](int64_t device) {
    return std::pair(tiling.tile_of[device], manual.empty() ? 0 : manual[device]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return place(a) < place(b); });
  SetDevices(std::move(order), sharding);
  return sharding;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
