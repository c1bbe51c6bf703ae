// Extensions of the PJRT C API that hlokit offers: a chain of tables beside the main one.
#pragma once

#include <array>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pjrt/abi/types.h"

namespace hlokit {

// The first of the chain; null where there is none.
PJRT_Extension_Base* PjrtExtensions();

// Registers functions for a custom-call target: of version 0 XLA's first interface, of version 1
// handlers by stage (instantiate, prepare, initialize, execute), where only the last must be there.
absl::Status RegisterPjrtCustomCall(absl::string_view target, int api_version,
                                    const std::array<void*, 4>& handlers);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
