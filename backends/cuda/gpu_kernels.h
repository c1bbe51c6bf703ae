// Kernels of a program's steps as LLVM functions that a GPU launches.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/cuda/gpu_arch.h"
#include "codegen/llvm.h"
#include "codegen/program.h"

namespace hlokit {

// One launch: `units` threads, one unit each. Its parameters are the addresses of the step's
// arrays, Step::operands and then Step::results, those without elements left out, and that of the
// scratch memory.
struct GpuLaunch {
  std::string kernel;
  int64_t units = 0;
  int64_t shared_bytes = 0;  // dynamic
};

struct GpuKernels {
  // In the order in which they run, one after the other.
  absl::flat_hash_map<const Step*, std::vector<GpuLaunch>> launches;
  int64_t scratch_bytes = 0;  // that the largest needs; its contents end with a step
};

// Emits a kernel for each loop of each step of kind kKernel into `module`, for devices of `arch`.
// Errors: Unimplemented, with the place of the instruction, for types without code.
absl::StatusOr<GpuKernels> EmitGpuKernels(const Program& program, const GpuArch& arch,
                                          llvm::Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
