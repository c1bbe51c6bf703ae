// Programs in forms that host-offloader takes.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// host-offload-legalize. Matches layout changes right behind MoveToHost, which move before it, and
// right before MoveToDevice, which move behind it, so that only the device changes layouts; slices
// without strides that are moved to the device, which become dynamic slices; broadcasts into which
// several updates are moved, of which each gets its own. Exact.
std::unique_ptr<Pass> CreateHostOffloadLegalize();

// host-offloading-prepare-elide-move-to-host: what runs on the host takes arrays as the device has
// them, without a MoveToHost. Exact.
std::unique_ptr<Pass> CreateHostOffloadingPrepareElideMoveToHost();

// host-memory-transfer-asyncifier: copies between the memories of host and device become
// copy-start and copy-done, slices read from the host and updates written to it async-start and
// async-done around them. Exact.
std::unique_ptr<Pass> CreateHostMemoryTransferAsyncifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
