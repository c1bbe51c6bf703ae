// Cuts within regions that are manual on some axes. What a sharding with a manual subgroup says is
// read once as a cut of all devices, whose manual axes count as copies; each group then keeps the
// tiles that its members hold. Cost: linear in devices for each array.
//   devices=[2,1,2]<=[4] last_tile_dims={manual}:  groups {0,2} and {1,3}, tiles {2,1} in each
#include "passes/spmd/region_cuts.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "ops/collective/shards.h"
#include "support/status.h"

namespace hlokit {

DeviceGroups RegionGroups(const Sharding* sharding, int64_t devices) {
  if (sharding == nullptr) return {};
  if (sharding->kind == Sharding::Kind::kTuple) {
    for (const Sharding& element : sharding->elements)
      if (DeviceGroups groups = RegionGroups(&element, devices); !groups.empty()) return groups;
    return {};
  }
  if (sharding->kind != Sharding::Kind::kTiled) return {};
  const std::vector<int64_t> group_of = ManualGroupsOf(*sharding, devices);
  if (group_of.empty()) return {};
  DeviceGroups groups(1 + *absl::c_max_element(group_of));
  for (int64_t device = 0; device < devices; ++device) groups[group_of[device]].push_back(device);
  return groups;
}

std::optional<Cut> WithinRegion(const Cut& cut, const DeviceGroups& groups,
                                absl::Span<const int64_t> ratio) {
  const bool splits = absl::c_any_of(ratio, [](int64_t r) { return r != 1; });
  if (!cut.IsTiled()) return splits ? std::nullopt : std::optional<Cut>(cut);
  const int64_t rank = cut.rank();
  DimVector left(cut.tiles.begin(), cut.tiles.begin() + rank);
  for (int64_t d = 0; d < rank && !ratio.empty(); ++d) {
    if (left[d] % ratio[d] != 0) return std::nullopt;
    left[d] /= ratio[d];
  }
  std::vector<std::pair<size_t, int64_t>> member(cut.devices.size());  // group, place in it
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t k = 0; k < groups[g].size(); ++k)
      member[groups[g][k]] = {g, static_cast<int64_t>(k)};
  int64_t tiles = 1;
  for (const int64_t n : left) tiles *= n;
  std::vector<DeviceGroups> holders(groups.size(), DeviceGroups(tiles));
  std::vector<std::optional<int64_t>> part(groups.size());  // of the array, that a group has
  bool fits = true;
  cut.ForEach([&](const DimVector& place, int64_t device) {
    const auto [group, k] = member[device];
    int64_t inner = 0, outer = 0;
    for (int64_t d = 0; d < rank; ++d) {
      inner = inner * left[d] + place[d] % left[d];
      outer = outer * (cut.tiles[d] / left[d]) + place[d] / left[d];
    }
    fits &= part[group].value_or(outer) == outer;
    part[group] = outer;
    holders[group][inner].push_back(k);
  });
  if (!fits) return std::nullopt;
  const size_t copies = groups[0].size() / tiles;
  Devices devices;
  for (const Devices& members : holders[0]) {
    if (members.size() != copies) return std::nullopt;
    devices.insert(devices.end(), members.begin(), members.end());
  }
  for (const DeviceGroups& other : holders)
    if (other != holders[0]) return std::nullopt;
  left.push_back(static_cast<int64_t>(copies));
  return Cut::Tiled(std::move(left), std::move(devices), /*has_copies=*/true);
}

std::optional<DeviceGroups> Renumbered(const DeviceGroups& inner, const DeviceGroups& outer) {
  std::optional<DeviceGroups> all;
  for (const Devices& members : outer) {
    DeviceGroups own;
    for (const Devices& group : inner) {
      Devices numbers;
      for (const int64_t device : group) {
        const auto at = absl::c_find(members, device);
        if (at != members.end()) numbers.push_back(at - members.begin());
      }
      if (numbers.empty()) continue;
      if (numbers.size() != group.size()) return std::nullopt;
      own.push_back(std::move(numbers));
    }
    if (all && *all != own) return std::nullopt;
    all = std::move(own);
  }
  return all;
}

absl::StatusOr<Cut> CutOf(const Sharding& sharding, const Shape& shape, int64_t devices,
                          const DeviceGroups& groups) {
  if (groups.empty() || sharding.kind != Sharding::Kind::kTiled)
    return CutOf(sharding, shape, devices);
  // Manual axes are copies to those who look at one group alone.
  Sharding all = sharding;
  for (std::string& kind : all.last_tile_dims) kind = "replicated";
  ASSIGN_OR_RETURN(const Cut cut, CutOf(all, shape, devices));
  if (!cut.sums.empty()) return Unimplemented("an unreduced array in a manual region");
  if (const auto inner = WithinRegion(cut, groups)) return *inner;
  return Unimplemented("a sharding that groups of devices hold unlike each other");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
