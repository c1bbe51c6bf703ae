// Cuts of an array among groups of devices, and of a group's part among its members.
//   devices=[4,2] of f32[8,6], groups along dimension 0: 4 groups of 2 devices, each has f32[2,6],
//   which its members cut as devices=[1,2]
// An operation that handles one dimension (a dot's batch, say) takes the groups along it and
// partitions the rest among the members as if there were no others.
#include "passes/spmd/cut_groups.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"

namespace hlokit {

Cut FromGroups(const DeviceGroups& groups, absl::Span<const int64_t> dims,
               absl::Span<const int64_t> sizes, const Cut& inner, int64_t rank) {
  const int64_t members = static_cast<int64_t>(groups[0].size());
  Cut tiled = inner;
  if (!tiled.IsTiled()) {
    DimVector tiles(rank, 1);
    tiles.push_back(members);
    Devices devices(members);
    std::iota(devices.begin(), devices.end(), 0);
    tiled = Cut{Cut::Kind::kTiled, 0, tiles, true, devices};
  }
  DimVector tiles = tiled.tiles;
  for (size_t k = 0; k < dims.size(); ++k) tiles[dims[k]] *= sizes[k];
  Devices devices(groups.size() * members);
  for (size_t g = 0; g < groups.size(); ++g) {
    DimVector at(rank, 0);
    int64_t rest = static_cast<int64_t>(g);
    for (size_t k = dims.size(); k-- > 0;) {
      at[dims[k]] = rest % sizes[k];
      rest /= sizes[k];
    }
    tiled.ForEach([&](const DimVector& place, int64_t member) {
      int64_t linear = 0;
      for (size_t d = 0; d < tiles.size(); ++d) {
        const int64_t before = static_cast<int64_t>(d) < rank ? at[d] * tiled.tiles[d] : 0;
        linear = linear * tiles[d] + before + place[d];
      }
      devices[linear] = groups[g][member];
    });
  }
  return Cut::Tiled(std::move(tiles), std::move(devices), tiled.has_copies);
}

Cut InEveryGroup(const DeviceGroups& groups, const Cut& inner, int64_t rank) {
  const int64_t members = static_cast<int64_t>(groups[0].size());
  if (!inner.IsTiled()) return Cut();
  DimVector tiles(inner.tiles.begin(), inner.tiles.begin() + rank);
  const int64_t copies = inner.Copies();
  tiles.push_back(copies * static_cast<int64_t>(groups.size()));
  Devices devices;
  const int64_t number = members / copies;
  for (int64_t t = 0; t < number; ++t)
    for (const Devices& group : groups)
      for (int64_t c = 0; c < copies; ++c) devices.push_back(group[inner.devices[t * copies + c]]);
  return Cut::Tiled(std::move(tiles), std::move(devices), true);
}

CutInGroups EveryGroup(const Cut& cut, const DeviceGroups& groups, bool matching,
                       absl::Span<const int64_t> preferred) {
  if (!cut.IsTiled()) return CutInGroups{Cut(), Cut()};
  const int64_t rank = cut.rank();
  std::vector<std::pair<int64_t, int64_t>> subsets;  // how many tiles are lost, which
  DimVector cut_dims;
  for (int64_t d = 0; d < rank; ++d)
    if (cut.tiles[d] > 1) cut_dims.push_back(d);
  for (int64_t mask = 0; mask < (int64_t{1} << cut_dims.size()); ++mask) {
    int64_t lost = 2;
    for (size_t k = 0; k < cut_dims.size(); ++k)
      if ((mask >> k) & 1) {
        lost *= cut.tiles[cut_dims[k]];
        if (!absl::c_linear_search(preferred, cut_dims[k])) ++lost;
      }
    subsets.emplace_back(lost, mask);
  }
  absl::c_sort(subsets);
  const int64_t members = static_cast<int64_t>(groups[0].size());
  for (const auto& [lost, mask] : subsets) {
    DimVector whole;
    for (size_t k = 0; k < cut_dims.size(); ++k)
      if ((mask >> k) & 1) whole.push_back(cut_dims[k]);
    const Cut outer = MadeWhole(cut, whole);
    if (!outer.IsTiled()) return CutInGroups{Cut(), Cut()};
    const int64_t tiles = outer.NumTiles();
    if (members % tiles != 0) continue;
    const int64_t copies = members / tiles;
    // The tile of each device.
    Devices tile_of(cut.devices.size());
    const int64_t all_copies = outer.Copies();
    for (size_t k = 0; k < outer.devices.size(); ++k)
      tile_of[outer.devices[k]] = static_cast<int64_t>(k) / all_copies;
    const auto inner_of = [&](const Devices& group) -> std::optional<Cut> {
      DeviceGroups holders(tiles);
      for (size_t m = 0; m < group.size(); ++m)
        holders[tile_of[group[m]]].push_back(static_cast<int64_t>(m));
      Devices devices;
      for (const Devices& members_of : holders) {
        if (static_cast<int64_t>(members_of.size()) != copies) return std::nullopt;
        devices.insert(devices.end(), members_of.begin(), members_of.end());
      }
      DimVector inner_tiles(outer.tiles.begin(), outer.tiles.begin() + rank);
      if (copies > 1) inner_tiles.push_back(copies);
      return Cut::Tiled(std::move(inner_tiles), std::move(devices), copies > 1);
    };
    const auto inner = inner_of(groups[0]);
    if (!inner) {
      if (matching) continue;
      // Any order will do.
      DimVector inner_tiles(outer.tiles.begin(), outer.tiles.begin() + rank);
      if (copies > 1) inner_tiles.push_back(copies);
      Devices devices(members);
      std::iota(devices.begin(), devices.end(), 0);
      const Cut any = Cut::Tiled(std::move(inner_tiles), std::move(devices), copies > 1);
      return CutInGroups{any, InEveryGroup(groups, any, rank)};
    }
    bool same = true;
    for (const Devices& group : groups) same &= inner_of(group) == inner;
    if (!same && matching) continue;
    return CutInGroups{*inner, same ? outer : InEveryGroup(groups, *inner, rank)};
  }
  return CutInGroups{Cut(), Cut()};
}

Shape InGroup(Shape whole, const Cut& outer, absl::Span<const int64_t> dims) {
  for (const int64_t d : dims) whole.dims[d] = (whole.dims[d] + outer.Dim(d) - 1) / outer.Dim(d);
  return whole.WithDefaultLayout();
}

DimVector SizesOf(const Cut& cut, absl::Span<const int64_t> dims) {
  DimVector sizes;
  for (const int64_t d : dims) sizes.push_back(cut.Dim(d));
  return sizes;
}

CutInGroups OfCopies(const Cut& cut, const DeviceGroups& groups) {
  if (!cut.has_copies || cut.Copies() % static_cast<int64_t>(groups.size()) != 0) return {};
  return EveryGroup(cut, groups, /*matching=*/false);
}

std::optional<Cut> CutWithin(const Cut& cut, absl::Span<const int64_t> dims,
                             const DeviceGroups& groups, absl::Span<const int64_t> sizes) {
  if (!cut.IsTiled()) return std::nullopt;
  Grouped grouped = GroupBy(cut, dims);
  const bool same =
      grouped.groups == groups &&
      std::equal(sizes.begin(), sizes.end(), grouped.sizes.begin(), grouped.sizes.end());
  return same ? std::optional<Cut>(std::move(grouped.cut)) : std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
