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

// How `units` threads, one unit each, are dealt out to blocks.
struct GpuGrid {
  int64_t blocks = 0;
  int threads = 0;  // of a block

  int64_t Threads() const { return blocks * threads; }
};
// One block of just as many threads for up to kBlockThreads units, so that a kernel of one element
// runs one warp. Above, the largest block of whole warps of which the units are a multiple: then no
// thread asks whether it has a unit. Otherwise blocks of four warps, few of whose threads idle.
GpuGrid GridOf(int64_t units);

// One launch. Its parameters are the addresses of the step's arrays, Step::operands and then
// Step::results, those without elements left out, and that of the scratch memory.
struct GpuLaunch {
  std::string kernel;
  GpuGrid grid;
  int64_t shared_bytes = 0;  // dynamic
};

struct GpuKernels {
  // In the order in which they run, one after the other.
  absl::flat_hash_map<const Step*, std::vector<GpuLaunch>> launches;
  bool wait = false;          // for the kernel before them, by griddepcontrol (sm_90)
  int64_t scratch_bytes = 0;  // that the largest needs; its contents end with a step
};

// Emits a kernel for each loop of each step of kind kKernel into `module`, for devices of `arch`.
// Errors: Unimplemented, with the place of the instruction, for types without code.
absl::StatusOr<GpuKernels> EmitGpuKernels(const Program& program, const GpuArch& arch,
                                          llvm::Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
