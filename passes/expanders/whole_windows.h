// Windows that hold a whole dimension.
#pragma once

#include <memory>

#include "passes/framework/pass.h"

namespace hlokit {

// The pass ReduceWindowToReduceAndBroadcast; despecializer runs it too.
std::unique_ptr<Pass> CreateReduceWindowToReduceAndBroadcast();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
