// Running a kernel over a grid of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ptxsim/memory.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

struct LaunchOptions {
  uint32_t grid[3] = {1, 1, 1};   // blocks
  uint32_t block[3] = {1, 1, 1};  // threads
  int64_t dynamic_shared = 0;     // bytes
  int threads = 1;                // of the host
  int64_t max_steps = 0;          // warp instructions; 0: no limit
  double timeout = 0;             // seconds; 0: no limit
};

struct LaunchStats {
  int64_t warp_instructions = 0;
  int64_t thread_instructions = 0;
  double seconds = 0;
  std::string output;  // of printf and assert, in the order of blocks
};

// Gives the module's variables their initial values: once for a program and memory.
absl::Status LoadVariables(const Program& program, Memory& memory);

// Runs functions[0] of `program`. `parameters` holds Program::parameter_bytes bytes. The results do
// not depend on options.threads.
// Errors: InvalidArgument for dimensions that no GPU takes; Aborted for what the kernel
// does wrong (out of bounds, misaligned, trap, a barrier that not all reach), with the
// instruction's place, and past a limit. `stats` is filled in any case.
absl::Status Launch(const Program& program, Memory& memory, absl::Span<const std::byte> parameters,
                    const LaunchOptions& options, LaunchStats& stats);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
