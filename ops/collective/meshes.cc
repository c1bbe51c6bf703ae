// Meshes are text in the module's attributes: {mesh = #sdy.mesh<["x"=4, "y"=2]>} is a grid of 4 by
// 2 devices, whose position 5 is x = 2, y = 1. Reading it costs the text's length.
#include "ops/collective/meshes.h"

#include "ops/collective/sdy_internal.h"
#include "support/status.h"

namespace hlokit {

absl::StatusOr<DeviceGrid> GridOf(const Module& module, int64_t devices) {
  for (const auto& [key, value] : module.header().frontend_attributes) {
    if (key != "xla.sdy.meshes") continue;
    ASSIGN_OR_RETURN(const std::vector<SdyMesh> meshes, ReadSdyMeshes(value));
    for (const SdyMesh& mesh : meshes) {
      if (mesh.size() != devices || mesh.axes.empty()) continue;
      DeviceGrid grid;
      for (const auto& [name, size] : mesh.axes) grid.sizes.push_back(size);
      grid.ids = mesh.device_ids;
      return grid;
    }
  }
  return InvalidArgument("the module names no mesh of ", devices, " devices");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
