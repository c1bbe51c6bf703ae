// Meshes of named axes that a module speaks of.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

// Devices in a grid, row-major; the axes' names do not matter here.
struct DeviceGrid {
  std::vector<int64_t> sizes;  // of the axes
  std::vector<int64_t> ids;    // by position; empty: 0, 1, 2, ...
};

// The first mesh of `devices` devices that the module's attributes name (xla.sdy.meshes). Errors:
// InvalidArgument where there is none, or the text is broken.
absl::StatusOr<DeviceGrid> GridOf(const Module& module, int64_t devices);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
