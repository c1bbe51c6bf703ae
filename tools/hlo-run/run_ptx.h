// hlo-run --ptx: one kernel of a PTX file in the simulator.
#pragma once

#include "tools/hlo-run/options.h"

namespace hlokit {

// Runs the kernel with one --input a parameter and prints or writes its buffers; returns the exit
// status of hlo-run: 1 for what the kernel does wrong, 2 for what the simulator does not have.
int RunPtx(const RunOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
