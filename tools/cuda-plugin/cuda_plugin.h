// The C boundary between hlo-opt and the CUDA backend, which it loads for --stage=ptx alone:
// libLLVM takes longer to load than hlo-opt takes to run.
#pragma once

#include <cstddef>

extern "C" {

// Compiles the module in `text` as it stands (passes have run) to PTX for `arch`, such as sm_90.
// Hands the PTX, or an error's message, to `take` with `sink`. Returns the exit status that the
// error wants, 0 where there is none.
int hlokit_ptx_stage(const char* text, size_t size, const char* arch, int opt_level,
                     void (*take)(void* sink, const char* bytes, size_t size), void* sink);

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
