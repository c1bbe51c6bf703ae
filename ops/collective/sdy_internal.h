// Shardy's text for meshes and shardings, as JAX leaves it in frontend attributes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/collective/tiling.h"

namespace hlokit {

// Devices in a grid of named axes, row-major.
struct SdyMesh {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<int64_t> device_ids;  // by position; empty: 0, 1, 2, ...
  int64_t size() const;             // 1 for a mesh of one device, whatever its id
};

// `{mesh = #sdy.mesh<["x"=2, "y"=4], device_ids=[..]>, ..}`
absl::StatusOr<std::vector<SdyMesh>> ReadSdyMeshes(absl::string_view text);
// `#sdy<manual_axes{"x", "y"}>`
absl::StatusOr<std::vector<std::string>> ReadSdyManualAxes(absl::string_view text);

// One array's sharding: per dimension its axes, from major to minor.
struct SdySharding {
  struct Axis {
    std::string name;
    int64_t before = 1, size = 0;  // "x":(before)size, a part of an axis; size 0: all of it
  };
  SdyMesh mesh;
  std::vector<std::vector<Axis>> dimensions;
};

// `#sdy.sharding<@mesh, [{"x"}, {}]>`, `#sdy.sharding_per_value<[<..>, <..>]>`
absl::StatusOr<std::vector<SdySharding>> ReadSdyShardings(absl::string_view text,
                                                          absl::Span<const SdyMesh> meshes);

// `only` non-null: the axes that cut, the others leave the array whole.
absl::StatusOr<Tiling> TilingOf(const SdySharding& sharding, const Shape& shape, int64_t devices,
                                const std::vector<std::string>* only);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
