// Arithmetic of cuts.
#include "passes/spmd/tilings.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hlokit {
namespace {

int64_t TileCount(const Tiling& tiling) {
  int64_t count = 1;
  for (int64_t n : tiling.tiles) count *= n;
  return count;
}

// Numbers the tiles of `tiles` for the devices: part(device, d) along dimension d.
template <typename Part>
Tiling Numbered(DimVector tiles, int64_t devices, Part part) {
  Tiling made{std::move(tiles), std::vector<int64_t>(devices, 0)};
  for (int64_t device = 0; device < devices; ++device)
    for (size_t d = 0; d < made.tiles.size(); ++d)
      made.tile_of[device] = made.tile_of[device] * made.tiles[d] +
                             (made.tiles[d] == 1 ? 0 : part(device, static_cast<int64_t>(d)));
  return made;
}

}  // namespace

int64_t PartAlong(const Tiling& tiling, int64_t device, int64_t d) {
  int64_t tile = tiling.tile_of[device];
  for (int64_t k = static_cast<int64_t>(tiling.tiles.size()) - 1; k > d; --k)
    tile /= tiling.tiles[k];
  return tile % tiling.tiles[d];
}

bool SameTiling(const Tiling& a, const Tiling& b) {
  return a.tiles == b.tiles && a.tile_of == b.tile_of;
}

bool IsEven(const Tiling& tiling, const Shape& shape) {
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] % tiling.tiles[d] != 0) return false;
  return true;
}

Tiling Restricted(const Tiling& tiling, const std::vector<bool>& kept) {
  DimVector tiles = tiling.tiles;
  for (size_t d = 0; d < tiles.size(); ++d)
    if (!kept[d]) tiles[d] = 1;
  return Numbered(std::move(tiles), tiling.tile_of.size(),
                  [&](int64_t device, int64_t d) { return PartAlong(tiling, device, d); });
}

Tiling Moved(const Tiling& tiling, absl::Span<const int64_t> to, int64_t rank) {
  DimVector tiles(rank, 1), from(rank, -1);
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] < 0) continue;
    tiles[to[d]] = tiling.tiles[d];
    from[to[d]] = d;
  }
  return Numbered(std::move(tiles), tiling.tile_of.size(), [&](int64_t device, int64_t d) {
    return from[d] < 0 ? 0 : PartAlong(tiling, device, from[d]);
  });
}

std::optional<Tiling> Merged(const Tiling& a, const Tiling& b) {
  const int64_t devices = a.tile_of.size();
  DimVector tiles = a.tiles;
  for (size_t d = 0; d < tiles.size(); ++d) {
    if (b.tiles[d] == 1) continue;
    for (int64_t device = 0; device < devices && a.tiles[d] != 1; ++device)
      if (a.tiles[d] != b.tiles[d] || PartAlong(a, device, d) != PartAlong(b, device, d))
        return std::nullopt;
    tiles[d] = b.tiles[d];
  }
  Tiling merged = Numbered(std::move(tiles), devices, [&](int64_t device, int64_t d) {
    return a.tiles[d] != 1 ? PartAlong(a, device, d) : PartAlong(b, device, d);
  });
  const int64_t count = TileCount(merged);
  if (devices % count != 0) return std::nullopt;
  std::vector<int64_t> holders(count, 0);
  for (int64_t tile : merged.tile_of) ++holders[tile];
  for (int64_t n : holders)
    if (n != devices / count) return std::nullopt;
  return merged;
}

namespace {

// In order, or as the columns of a matrix of device numbers; else as a list.
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

}  // namespace

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

std::optional<Tiling> OwnTiling(const Instruction& i, int64_t devices) {
  if (i.sharding() == nullptr || !i.shape().IsArray()) return std::nullopt;
  const auto tiling = TilingOf(*i.sharding(), i.shape(), devices);
  if (!tiling.ok()) return std::nullopt;
  return *tiling;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
