// The C boundary between hlo-opt and the CPU backend, which it loads only for stages past hlo:
// libLLVM takes longer to load than hlo-opt takes to run.
#pragma once

#include <cstddef>

extern "C" {

// Compiles the module in `text` as it stands (passes have run) up to `stage`: buffer-assignment,
// program, llvm-before-optimizations, llvm-after-optimizations, llvm, asm or obj. Hands what the
// stage gives, or an error's message, to `take` with `sink`. `folder` takes files under way and is
// the caller's, who deletes it also where a handler ends the program. Returns the exit status that
// the error wants, 0 where there is none.
int hlokit_cpu_stage(const char* text, size_t size, const char* stage, int opt_level,
                     const char* folder, void (*take)(void* sink, const char* bytes, size_t size),
                     void* sink);

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
