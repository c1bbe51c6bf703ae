// The CPU platform: native code for whole modules, through LLVM.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "passes/dynamic_entry.h"

namespace hlokit {

inline constexpr Capabilities kCpuCapabilities = {.donates = true,
                                                  .freezes = true,
                                                  .profiles = true,
                                                  .sanitizes = true,
                                                  .compiles_ahead = true,
                                                  .shares_host_memory = true,
                                                  .in_place_alignment = 64};

std::unique_ptr<Backend> MakeCpuBackend();
// The same with a WarmUp, for tools that read files before they compile. It must be destroyed
// before the process ends: LLVM's tables must outlive the thread.
std::unique_ptr<Backend> MakeWarmCpuBackend();

// What compiling does to a module before it plans buffers: the chosen passes, then legalisation.
// Errors: Unimplemented for sizes that only the run knows, where `dynamic` is null or they are of
// instructions that have no code at their bounds.
absl::Status LowerForCpu(Module& module, const CompileOptions& options,
                         DynamicEntry* dynamic = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
