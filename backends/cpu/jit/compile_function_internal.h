// Machine code of one function that no module is behind, for samples and measurements.
#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "backends/cpu/jit/jit.h"

namespace hlokit {

// `emit` writes the body of the entry function (JitCode::Entry), for this machine. `name` is the
// LLVM module's.
absl::StatusOr<std::unique_ptr<JitCode>> CompileFunction(
    const char* name, absl::FunctionRef<void(llvm::Function&)> emit);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
