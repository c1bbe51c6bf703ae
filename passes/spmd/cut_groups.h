// Arrays that lie on groups of devices: each group has a part, or all, and its members cut that.
#pragma once

#include <optional>

#include "passes/spmd/cuts.h"

namespace hlokit {

// How the members of every group cut what the group has, and how all devices do.
struct CutInGroups {
  Cut inner;
  Cut outer;
};

// A shape as the members of groups along `dims` see it.
Shape InGroup(Shape whole, const Cut& outer, absl::Span<const int64_t> dims);
DimVector SizesOf(const Cut& cut, absl::Span<const int64_t> dims);

// The cut of all devices that is `inner` in each group, of groups that lie along `dims`.
Cut FromGroups(const DeviceGroups& groups, absl::Span<const int64_t> dims,
               absl::Span<const int64_t> sizes, const Cut& inner, int64_t rank);
// The same of groups that have the whole array each.
Cut InEveryGroup(const DeviceGroups& groups, const Cut& inner, int64_t rank);

// A cut of which every group has all, close to `cut`: dimensions are made whole where they must,
// `preferred` ones first. `matching`: devices keep what they have.
CutInGroups EveryGroup(const Cut& cut, const DeviceGroups& groups, bool matching,
                       absl::Span<const int64_t> preferred = {});
// The same where copies are enough for all groups; else replicated.
CutInGroups OfCopies(const Cut& cut, const DeviceGroups& groups);
// How the members cut their part where the groups lie along `dims` of `cut` just so.
std::optional<Cut> CutWithin(const Cut& cut, absl::Span<const int64_t> dims,
                             const DeviceGroups& groups, absl::Span<const int64_t> sizes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
