// Running a kernel over a grid of blocks.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ptxsim/launch_options.h"
#include "ptxsim/memory.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

// Gives the module's variables their initial values: once for a program and memory. `keep`: not
// those that another kernel of the module brought.
absl::Status LoadVariables(const Program& program, Memory& memory, bool keep = false);

// Runs functions[0] of `program`. `parameters` holds Program::parameter_bytes bytes. The results do
// not depend on options.threads.
// Errors: InvalidArgument for dimensions that no GPU takes; Aborted for what the kernel
// does wrong (out of bounds, misaligned, trap, a barrier that not all reach), with the
// instruction's place, and past a limit. `stats` is filled in any case.
absl::Status Launch(const Program& program, Memory& memory, absl::Span<const std::byte> parameters,
                    const LaunchOptions& options, LaunchStats& stats);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
