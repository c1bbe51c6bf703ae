// What compiling for a GPU makes of a module, and its code on one device.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "analysis/buffer_assignment.h"
#include "backends/backend.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/gpu_kernels.h"
#include "passes/dynamic_entry.h"

namespace hlokit {

// What Compile makes. The program points into module and buffers.
struct GpuProgram {
  std::unique_ptr<Module> module;
  BufferAssignment buffers;
  Program program;
  GpuKernels kernels;
  // How often loops run whose conditions the host need not ask.
  absl::flat_hash_map<const Step*, int64_t> trips;
  std::string ptx;
  CompileStats stats;
  DeviceAssignment devices{1, 1};
  DynamicEntry dynamic;
  CompileOptions options;
};

// A module's code on one device, unloaded with it.
struct LoadedCode {
  LoadedCode() = default;
  LoadedCode(LoadedCode&& other) noexcept { *this = std::move(other); }
  LoadedCode& operator=(LoadedCode&& other) noexcept;
  ~LoadedCode();

  // Makes the device's context this thread's.
  absl::Status Enter() const;

  const CudaDriver* driver = nullptr;
  cuda::Context context = nullptr;
  cuda::Module module = nullptr;
  cuda::Stream stream = nullptr;
  absl::flat_hash_map<std::string, cuda::Function> functions;
  // Kernels that set a graph's conditions; null where the driver has no conditional nodes.
  cuda::Module conditions = nullptr;
  cuda::Function set_condition = nullptr;
};

// Loads the program's PTX on the driver's device of that number, with a stream of its own. Errors:
// the driver's, such as PTX that it refuses, with its log.
absl::StatusOr<LoadedCode> LoadCode(const CudaDriver& driver, const GpuProgram& program,
                                    int ordinal);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
