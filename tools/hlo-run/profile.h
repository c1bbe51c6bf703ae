// Where the time of a run goes, for people and for Perfetto.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"

namespace hlokit {

// A table of instructions by time, the most first: share of the run, milliseconds and executions a
// run, GFLOP/s and GB/s, and which share of what this machine can do at most that is (measured
// here: on `threads` threads). `runs`: how many runs `times` covers.
std::string ProfileTable(const std::vector<InstructionTime>& times, int64_t runs, int threads);

// The same as a trace that ui.perfetto.dev opens: one run, each instruction for its average time,
// in order of execution, with its opcode and source line, a track for each device.
std::string ProfileTrace(const std::vector<InstructionTime>& times, int64_t runs);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
