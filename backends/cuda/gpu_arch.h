// GPU architectures by name, and the processor, features and PTX version that LLVM takes for each.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

struct GpuArch {
  absl::string_view name;       // as --gpu-arch takes it: "sm_90a"
  int number;                   // 90
  absl::string_view processor;  // of LLVM's NVPTX target
  absl::string_view features;   // the PTX version: the first that knows the processor
};

// Errors: InvalidArgument for names that are none, with those that are.
absl::StatusOr<GpuArch> GpuArchNamed(absl::string_view name);
// The newest whose PTX a device of compute capability `number` runs. Errors: Unimplemented where
// the device is too old.
absl::StatusOr<GpuArch> GpuArchOfDevice(int number);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
