// NVIDIA GPUs as a platform, and the same on simulated devices.
#pragma once

#include <memory>
#include <string>

#include "backends/backend.h"

namespace hlokit {

// Arguments and results are in the host's memory; runs copy them to their device and back.
inline constexpr Capabilities kCudaCapabilities = {.profiles = true, .shares_host_memory = true};

// Devices of libcuda.so.1.
std::unique_ptr<Backend> MakeCudaBackend();
// Those of the simulator (ptxsim/driver), which runs the same PTX through the same host code.
std::unique_ptr<Backend> MakePtxSimBackend();

// The PTX of a module, without a driver or a device. `arch`: as --gpu-arch takes it.
// `which_passes`, `opt_level` and `dump_to` of the options are looked at. Errors: as
// Backend::Compile.
absl::StatusOr<std::string> PtxOfModule(std::unique_ptr<Module> module, absl::string_view arch,
                                        const CompileOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
