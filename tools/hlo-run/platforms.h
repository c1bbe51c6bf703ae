// Platforms by name.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/backend.h"

namespace hlokit {

// cpu or interpreter, in any case. InvalidArgument for a name that is no platform, Unimplemented
// for one that this build lacks.
absl::StatusOr<std::unique_ptr<Backend>> MakeBackend(const std::string& platform);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
