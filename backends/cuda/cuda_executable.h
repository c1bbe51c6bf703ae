// A compiled module and what its runs need: steps, PTX loaded on each device, constants.
#pragma once

#include <memory>
#include <vector>

#include "analysis/buffer_assignment.h"
#include "backends/backend.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/gpu_kernels.h"
#include "interpreter/interpreter.h"
#include "passes/dynamic_entry.h"

namespace hlokit {

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
};

class CudaExecutable final : public Executable {
 public:
  // What Compile makes. The program points into module and buffers.
  struct Parts {
    std::unique_ptr<Module> module;
    BufferAssignment buffers;
    Program program;
    GpuKernels kernels;
    std::string ptx;
    CompileStats stats;
    DeviceAssignment devices{1, 1};
    DynamicEntry dynamic;
    CompileOptions options;
  };
  CudaExecutable(const CudaDriver& driver, std::unique_ptr<Parts> parts);

  // Loads the code on every local device. Errors: those of the driver, such as PTX that it refuses.
  absl::Status Load();

  const Module& module() const override { return *parts_->module; }
  const CompileStats& stats() const override { return parts_->stats; }
  const DeviceAssignment& devices() const override { return parts_->devices; }
  absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareViews(
      absl::Span<const DeviceViews> arguments) override;

  const CudaDriver& driver() const { return driver_; }
  const Parts& parts() const { return *parts_; }
  const InterpreterOptions& host_options() const { return host_options_; }
  // Of the k-th local device.
  const LoadedCode& code(size_t local) const { return code_[local]; }

 private:
  absl::StatusOr<LoadedCode> LoadOn(int device) const;

  const CudaDriver& driver_;
  std::unique_ptr<Parts> parts_;
  InterpreterOptions host_options_;
  std::vector<LoadedCode> code_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
