// hlo-run --ptx: one kernel of a PTX file in the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hlokit {

struct RunOptions;

struct PtxOptions {
  std::string file;    // empty: not asked for
  std::string kernel;  // empty: the only one
  std::vector<uint32_t> grid = {1}, block = {1};
  int64_t shared = 0;  // bytes of dynamic shared memory
};

// Adds --ptx, --kernel, --grid, --block and --shared. `files`, the modules, are not wanted then.
void AddPtxFlags(CLI::App& app, PtxOptions& options);

// Runs the kernel with one --input a parameter and prints or writes its buffers; returns the exit
// status of hlo-run: 1 for what the kernel does wrong, 2 for what the simulator does not have.
int RunPtx(const RunOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
