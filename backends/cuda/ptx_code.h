// From LLVM IR of kernels to PTX text, by LLVM's NVPTX target.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/cuda/gpu_arch.h"
#include "codegen/llvm.h"

namespace hlokit {

// Threads of a block at most, and of each block of kernels whose blocks work together.
inline constexpr int kBlockThreads = 256;

// Names the target in an empty module, before code is emitted into it.
void SetPtxTarget(llvm::Module& module);

// Optimizes the module and prints its PTX. Bits do not depend on `opt_level` (0 to 3). Into the
// folder `dump_to`, where one is named, go module.ir-no-opt.ll, module.ir-with-opt.ll and
// module.ptx. Errors: Internal where LLVM lacks the target or refuses the code; those of files.
absl::StatusOr<std::string> CompileToPtx(llvm::Module& module, const GpuArch& arch, int opt_level,
                                         absl::string_view dump_to);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
