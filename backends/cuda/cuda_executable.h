// A compiled module, its code loaded on each device.
#pragma once

#include <memory>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/loaded_code.h"
#include "interpreter/interpreter.h"

namespace hlokit {

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(const CudaDriver& driver, std::unique_ptr<GpuProgram> parts);

  // Loads the code on every local device. Errors: those of the driver, such as PTX that it refuses.
  absl::Status Load();

  const Module& module() const override { return *parts_->module; }
  const CompileStats& stats() const override { return parts_->stats; }
  const DeviceAssignment& devices() const override { return parts_->devices; }
  absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareViews(
      absl::Span<const DeviceViews> arguments) override;

  const CudaDriver& driver() const { return driver_; }
  const GpuProgram& parts() const { return *parts_; }
  const InterpreterOptions& host_options() const { return host_options_; }
  // Of the k-th local device.
  const LoadedCode& code(size_t local) const { return code_[local]; }

 private:
  const CudaDriver& driver_;
  std::unique_ptr<GpuProgram> parts_;
  InterpreterOptions host_options_;
  std::vector<LoadedCode> code_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
