// Shardings as arrays of devices; see the header.
//   f32[8,6] on devices=[2,1,2]0,1,2,3 with copies: tiles {2,1,2}, rows 0-3 on devices 0 and 1
#include "passes/spmd/cuts.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "ops/collective/shards.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool Has(absl::Span<const int64_t> dims, int64_t d) { return absl::c_linear_search(dims, d); }

// The devices with their dimensions in another order: dimension k of the result is from[k].
Devices Permuted(const DimVector& tiles, const Devices& devices, absl::Span<const int64_t> from) {
  const DimVector strides = RowMajorStrides(tiles);
  DimVector dims;
  for (const int64_t d : from) dims.push_back(tiles[d]);
  Devices moved;
  moved.reserve(devices.size());
  ForEachIndex(dims, [&](absl::Span<const int64_t> place) {
    int64_t at = 0;
    for (size_t k = 0; k < place.size(); ++k) at += place[k] * strides[from[k]];
    moved.push_back(devices[at]);
  });
  return moved;
}

}  // namespace

Cut Cut::OnDevice(int64_t device) {
  Cut cut;
  cut.kind = Kind::kDevice;
  cut.device = device;
  return cut;
}

Cut Cut::Manual() {
  Cut cut;
  cut.kind = Kind::kManual;
  return cut;
}

Cut Cut::Tiled(DimVector tiles, Devices devices, bool has_copies) {
  Cut cut;
  const size_t rank = tiles.size() - (has_copies ? 1 : 0);
  if (Product(absl::MakeSpan(tiles).first(rank)) == 1) return cut;
  if (has_copies && tiles.back() == 1) {
    tiles.pop_back();
    has_copies = false;
  }
  cut.kind = Kind::kTiled;
  cut.tiles = std::move(tiles);
  cut.devices = std::move(devices);
  cut.has_copies = has_copies;
  return cut;
}

int64_t Cut::NumTiles() const {
  return IsTiled() ? Product(absl::MakeConstSpan(tiles).first(rank())) : 1;
}

void Cut::ForEach(const std::function<void(const DimVector&, int64_t)>& fn) const {
  size_t next = 0;
  ForEachIndex(tiles, [&](absl::Span<const int64_t> place) {
    fn(DimVector(place.begin(), place.end()), devices[next++]);
  });
}

int64_t Cut::At(const DimVector& place) const {
  int64_t at = 0;
  for (size_t d = 0; d < tiles.size(); ++d) at = at * tiles[d] + place[d];
  return devices[at];
}

namespace {

// Copies in the order of their devices.
Cut FromTiling(const Tiling& tiling) {
  const auto devices = static_cast<int64_t>(tiling.tile_of.size());
  DimVector tiles(tiling.tiles.begin(), tiling.tiles.end());
  tiles.push_back(devices / Product(tiling.tiles));
  Devices order(devices);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return tiling.tile_of[a] < tiling.tile_of[b]; });
  return Cut::Tiled(std::move(tiles), std::move(order), true);
}

}  // namespace

namespace {

// Devices of an order over `tiles` and then subgroups that differ in their places along unreduced
// subgroups only.
DeviceGroups UnreducedGroups(const Sharding& sharding, const Devices& order) {
  const size_t rank = sharding.tile_dims.size() - sharding.last_tile_dims.size();
  DimVector along;
  for (size_t k = 0; k < sharding.last_tile_dims.size(); ++k)
    if (sharding.last_tile_dims[k] == "unreduced") along.push_back(static_cast<int64_t>(rank + k));
  if (along.empty()) return {};
  Cut all;
  all.kind = Cut::Kind::kTiled;
  all.tiles = sharding.tile_dims;
  all.devices = order;
  return GroupsAlong(all, along);
}

}  // namespace

Cut Summed(Cut cut) {
  cut.sums.clear();
  return cut;
}

absl::StatusOr<Cut> CutOf(const Sharding& sharding, const Shape& shape, int64_t devices) {
  switch (sharding.kind) {
    case Sharding::Kind::kUnreduced: {
      Cut cut;
      cut.sums.emplace_back(devices);
      std::iota(cut.sums[0].begin(), cut.sums[0].end(), 0);
      return cut;
    }
    case Sharding::Kind::kReplicated:
    case Sharding::Kind::kUnknown:
      return Cut();
    case Sharding::Kind::kMaximal:
      return Cut::OnDevice(sharding.device);
    case Sharding::Kind::kManual:
      return Cut::Manual();
    case Sharding::Kind::kTiled:
      break;
    case Sharding::Kind::kText: {
      ASSIGN_OR_RETURN(const Tiling tiling, TilingOf(sharding, shape, devices));
      return FromTiling(tiling);
    }
    default:
      return Unimplemented("a sharding of another kind");
  }
  const int64_t rank = shape.rank();
  const auto given = static_cast<int64_t>(sharding.tile_dims.size());
  if (given < rank) return InvalidArgument("a sharding of ", given, " dimensions");
  for (const std::string& kind : sharding.last_tile_dims)
    if (kind != "replicated" && kind != "unreduced")
      return Unimplemented("a subgroup that is ", kind);
  Devices order = DevicesOf(sharding);
  if (static_cast<int64_t>(order.size()) != devices)
    return InvalidArgument("a sharding over ", order.size(), " devices, the module runs on ",
                           devices);
  std::vector<bool> seen(devices);
  for (const int64_t device : order) {
    if (device < 0 || device >= devices || seen[device])
      return InvalidArgument("a sharding names device ", device, " of ", devices);
    seen[device] = true;
  }
  DimVector tiles(sharding.tile_dims.begin(), sharding.tile_dims.begin() + rank);
  const bool has_copies = given > rank;
  if (has_copies) tiles.push_back(Product(absl::MakeSpan(sharding.tile_dims).subspan(rank)));
  DeviceGroups sums = UnreducedGroups(sharding, order);
  Cut cut = Cut::Tiled(std::move(tiles), std::move(order), has_copies);
  cut.sums = std::move(sums);
  return cut;
}

Cut MadeWhole(const Cut& cut, absl::Span<const int64_t> dims) {
  if (!cut.IsTiled()) return cut;
  int64_t copies = 1;
  DimVector order, tiles;
  for (int64_t d = 0; d < cut.rank(); ++d) {
    const bool whole = Has(dims, d);
    if (whole) copies *= cut.tiles[d];
    tiles.push_back(whole ? 1 : cut.tiles[d]);
    if (!whole) order.push_back(d);
  }
  if (copies == 1) return cut;
  for (int64_t d = 0; d < cut.rank(); ++d)
    if (Has(dims, d)) order.push_back(d);
  if (cut.has_copies) order.push_back(cut.rank());
  tiles.push_back(copies * cut.Copies());
  return Cut::Tiled(std::move(tiles), Permuted(cut.tiles, cut.devices, order), true);
}

Cut MadeWholeExcept(const Cut& cut, absl::Span<const int64_t> dims) {
  DimVector others;
  for (int64_t d = 0; d < cut.rank(); ++d)
    if (!Has(dims, d)) others.push_back(d);
  return MadeWhole(cut, others);
}

Cut WithoutDims(const Cut& cut, absl::Span<const int64_t> dims) {
  if (!cut.IsTiled()) return cut;
  DimVector tiles;
  for (size_t d = 0; d < cut.tiles.size(); ++d)
    if (static_cast<int64_t>(d) >= cut.rank() || !Has(dims, d)) tiles.push_back(cut.tiles[d]);
  return Cut::Tiled(std::move(tiles), cut.devices, cut.has_copies);
}

Cut Transposed(const Cut& cut, absl::Span<const int64_t> from) {
  if (!cut.IsTiled()) return cut;
  DimVector order(from.begin(), from.end()), tiles;
  if (cut.has_copies && static_cast<int64_t>(order.size()) == cut.rank())
    order.push_back(cut.rank());
  for (const int64_t d : order) tiles.push_back(cut.tiles[d]);
  return Cut::Tiled(std::move(tiles), Permuted(cut.tiles, cut.devices, order), cut.has_copies);
}

Cut Reversed(const Cut& cut, absl::Span<const int64_t> dims) {
  if (!cut.IsTiled()) return cut;
  Cut reversed = cut;
  size_t next = 0;
  cut.ForEach([&](DimVector place, int64_t) {
    for (const int64_t d : dims) place[d] = cut.tiles[d] - 1 - place[d];
    reversed.devices[next++] = cut.At(place);
  });
  return reversed;
}

Cut Retiled(const Cut& cut, DimVector tiles, bool has_copies) {
  return cut.IsTiled() ? Cut::Tiled(std::move(tiles), cut.devices, has_copies) : cut;
}

// Both shapes are walked from the major side; a dimension is split or merged as the sizes ask, and
// its tiles go to the parts in the same order.
std::optional<Cut> Reshaped(const Shape& from, const Shape& to, const Cut& cut) {
  if (!cut.IsTiled()) return cut;
  struct Left {
    int64_t size, tiles;
  };
  std::vector<Left> source;
  DimVector target(to.dims.rbegin(), to.dims.rend()), tiles;
  for (int64_t d = from.rank() - 1; d >= 0; --d) source.push_back({from.dims[d], cut.tiles[d]});
  while (!source.empty() || !target.empty()) {
    Left s{1, 1};
    int64_t t = 1;
    if (!source.empty()) {
      s = source.back();
      source.pop_back();
    }
    const bool has_target = !target.empty();
    if (has_target) {
      t = target.back();
      target.pop_back();
    }
    if (s.size == 0 || t == 0) return std::nullopt;
    if (s.size == t) {
      if (has_target)
        tiles.push_back(s.tiles);
      else if (s.tiles != 1)
        return std::nullopt;
    } else if (t == 1) {
      if (has_target) tiles.push_back(1);
      source.push_back(s);
    } else if (s.size == 1) {
      if (s.tiles != 1) return std::nullopt;
      target.push_back(t);
    } else if (s.size > t) {  // split
      if (s.size % t != 0) return std::nullopt;
      if (t % s.tiles == 0) {
        tiles.push_back(s.tiles);
        source.push_back({s.size / t, 1});
      } else if (s.tiles % t == 0 && s.size % s.tiles == 0) {
        tiles.push_back(t);
        source.push_back({s.size / t, s.tiles / t});
      } else {
        return std::nullopt;
      }
    } else {  // merge with the next one
      if (t % s.size != 0 || source.empty()) return std::nullopt;
      const Left next = source.back();
      source.pop_back();
      // Tiles of the next dimension are contiguous only where this one is cut to single rows, and
      // none may hold padding.
      if ((next.tiles != 1 && s.tiles != s.size) || s.size % s.tiles != 0) return std::nullopt;
      source.push_back({s.size * next.size, s.tiles * next.tiles});
      target.push_back(t);
    }
  }
  if (cut.has_copies) tiles.push_back(cut.Copies());
  if (Product(tiles) != Product(cut.tiles)) return std::nullopt;
  return Cut::Tiled(std::move(tiles), cut.devices, cut.has_copies);
}

bool HaveSameTiles(const Cut& a, const Cut& b) {
  return a.IsTiled() && b.IsTiled() && a.tiles == b.tiles && a.has_copies == b.has_copies &&
         a.devices != b.devices;
}

bool AllOnOneDevice(absl::Span<const Cut> cuts) {
  return !cuts.empty() &&
         absl::c_all_of(cuts, [&](const Cut& cut) { return cut.HasOneDevice() && cut == cuts[0]; });
}

std::optional<int64_t> OnlyCutDim(const Cut& cut) {
  std::optional<int64_t> only;
  for (int64_t d = 0; d < cut.rank(); ++d) {
    if (cut.tiles[d] == 1) continue;
    if (only) return std::nullopt;
    only = d;
  }
  return only;
}

bool IsEven(const Cut& cut, const Shape& shape) {
  if (cut.IsManual()) return true;
  if (!cut.IsTiled()) return cut.IsReplicated();
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] % cut.tiles[d] != 0) return false;
  return true;
}

Shape ShardOf(const Shape& whole, const Cut& cut) {
  if (!cut.IsTiled() || !whole.IsArray()) return whole;
  Shape shard = whole;
  for (int64_t d = 0; d < whole.rank(); ++d)
    shard.dims[d] = (whole.dims[d] + cut.tiles[d] - 1) / cut.tiles[d];
  return shard;
}

DeviceGroups GroupsAlong(const Cut& cut, absl::Span<const int64_t> dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= cut.tiles[d];
  DeviceGroups groups(cut.devices.size() / size);
  cut.ForEach([&](const DimVector& place, int64_t device) {
    int64_t group = 0;
    for (size_t d = 0; d < place.size(); ++d)
      if (!Has(dims, d)) group = group * cut.tiles[d] + place[d];
    groups[group].push_back(device);
  });
  return groups;
}

Grouped GroupBy(const Cut& cut, absl::Span<const int64_t> dims,
                absl::Span<const int64_t> tiles_left) {
  Grouped grouped;
  DimVector inner = cut.tiles, left;
  int64_t count = 1;
  for (size_t k = 0; k < dims.size(); ++k) {
    left.push_back(tiles_left.empty() ? 1 : tiles_left[k]);
    grouped.sizes.push_back(cut.tiles[dims[k]] / left[k]);
    inner[dims[k]] = left[k];
    count *= grouped.sizes[k];
  }
  grouped.groups.resize(count);
  cut.ForEach([&](const DimVector& place, int64_t device) {
    int64_t group = 0;
    for (size_t k = 0; k < dims.size(); ++k)
      group = group * grouped.sizes[k] + place[dims[k]] / left[k];
    grouped.groups[group].push_back(device);
  });
  Devices members(cut.devices.size() / count);
  std::iota(members.begin(), members.end(), 0);
  grouped.cut = Cut::Tiled(std::move(inner), std::move(members), cut.has_copies);
  return grouped;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
