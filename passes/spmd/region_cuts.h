// Regions that are manual on some axes of the mesh only: groups of devices, each of which has
// arrays of its own, which its members share as the other axes say.
#pragma once

#include <optional>

#include "passes/spmd/cuts.h"

namespace hlokit {

// The groups of a sharding with a manual subgroup, members in the order of their numbers; none for
// other shardings.
DeviceGroups RegionGroups(const Sharding* sharding, int64_t devices);

// How the members of each group hold the group's part of an array that lies on all devices under
// `cut`, where a group has 1 / ratio[d] of the array along dimension d (empty: all of it). Nothing
// where groups have other parts than that, or differ in who holds what.
//   devices=[4,2]<=[8], groups {0,1,4,5} and {2,3,6,7}, ratio {1,1}:  nothing, no group has it all
//   devices=[4,2]<=[8], groups {0,..,3} and {4,..,7}, ratio {2,1}:  tiles {2,2} on members 0 to 3
std::optional<Cut> WithinRegion(const Cut& cut, const DeviceGroups& groups,
                                absl::Span<const int64_t> ratio = {});

// `inner` groups of devices in the numbers of the members of `outer` ones. Nothing where the outer
// groups are not divided alike.
std::optional<DeviceGroups> Renumbered(const DeviceGroups& inner, const DeviceGroups& outer);

// The cut that a sharding states, of all devices or, where `groups` are not empty, of the members
// of each group. Errors: as CutOf; Unimplemented where groups differ.
absl::StatusOr<Cut> CutOf(const Sharding& sharding, const Shape& shape, int64_t devices,
                          const DeviceGroups& groups);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
