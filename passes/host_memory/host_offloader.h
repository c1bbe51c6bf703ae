// Moves between host and device as copies between memories.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// host-offloader. Takes MoveToHost and MoveToDevice away: what is moved to the host is copied into
// memory 5 and stays there through tuples, calls, loops, bitcasts and updates in place; what reads
// it by MoveToDevice, and anything else that would compute with it, reads a copy in the device's
// memory, or a slice that is made there. An array into which moved values are updated lies on the
// host from where it is made. Values stay as they were. Left alone: values that reach a computation
// by other ways (a conditional's branch, an asynchronous call).
std::unique_ptr<Pass> CreateHostOffloader();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
