// Tells a framework how values of a program are cut (jax.debug.inspect_array_sharding).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "ir/module.h"
#include "pjrt/compile_options.h"

namespace hlokit {

// Gets a number that the framework gave a value, and the value's sharding as HLO text. Not 0 where
// it fails.
using PjrtInspector = int (*)(int64_t number, const char* sharding);
void SetPjrtInspector(PjrtInspector inspector);

// Calls the inspector for each custom call InspectSharding of a program of several partitions,
// and removes all of them. Errors: InvalidArgument where the inspector
// fails; the propagation's.
absl::Status TellShardings(Module& module, const PjrtCompileOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
