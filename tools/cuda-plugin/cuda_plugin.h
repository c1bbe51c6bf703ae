// The C boundary between hlo-opt and the CUDA backend, which it loads for a GPU's code alone:
// libLLVM takes longer to load than hlo-opt takes to run.
#pragma once

#include <cstddef>

extern "C" {

// Compiles the module in `text` as it stands (passes have run) for `arch`, such as sm_90, with
// scratch files in `folder`. Hands the PTX (`stage` is "ptx"), the LLVM IR of its kernels
// ("llvm-before-optimizations", "llvm-after-optimizations" or "llvm") or an error's message to
// `take` with `sink`. Returns the exit status that the error wants, 0 where there is none.
int hlokit_cuda_stage(const char* text, size_t size, const char* stage, const char* arch,
                      int opt_level, const char* folder,
                      void (*take)(void* sink, const char* bytes, size_t size), void* sink);

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
