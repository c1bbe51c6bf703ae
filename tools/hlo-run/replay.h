// --kernels: a module run by the kernels of XLA's own dump.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/hlo-run/execute.h"

namespace hlokit {

// The optimized HLO of the dump. Errors: those of FindGpuDump.
absl::StatusOr<std::string> ReplayedModule(const std::string& dump);

// Runs `module`, which is the optimized HLO of options.kernels, on the simulated device; results
// and times as Execute gives them, counts of the kernels in stats. Errors: those of GpuReplay, and
// Unimplemented for modules of several devices.
absl::StatusOr<Execution> ExecuteReplay(const Module& module,
                                        absl::Span<const DeviceArguments> arguments,
                                        const RunOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
