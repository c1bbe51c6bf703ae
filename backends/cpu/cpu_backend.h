// The CPU platform: native code for whole modules, through LLVM.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace hlokit {

std::unique_ptr<Backend> MakeCpuBackend();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
