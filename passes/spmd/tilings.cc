// Arithmetic of cuts.
#include "passes/spmd/tilings.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hlokit {
namespace {

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

std::optional<Tiling> OwnTiling(const Instruction& i, int64_t devices) {
  if (i.sharding() == nullptr || !i.shape().IsArray()) return std::nullopt;
  const auto tiling = TilingOf(*i.sharding(), i.shape(), devices);
  if (!tiling.ok()) return std::nullopt;
  return *tiling;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
