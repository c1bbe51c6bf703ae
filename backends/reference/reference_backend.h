// The interpreter as a platform.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace hlokit {

inline constexpr Capabilities kReferenceCapabilities = {.observes = true,
                                                        .shares_host_memory = true};

// Runs every op by its reference meaning. Compiling costs nothing; runs follow the module's
// schedule where it has one.
std::unique_ptr<Backend> MakeReferenceBackend();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
