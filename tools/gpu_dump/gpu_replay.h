// Runs a module by the kernels that XLA made for it, in the simulator of ptxsim/.
//
// The scheduled HLO says what happens in which order, the buffer assignment where each array lies.
// An instruction with launches in the dump runs its kernels on those arrays:
//   %add = f32[256] fusion(%a, %b)   ->   loop_add_fusion<<<1, 128>>>(address of a, of b, of add)
// Any other is a call of a library, a copy or control flow: the interpreter computes it from the
// arrays and its result goes to the arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "ptxsim/launch_options.h"
#include "tools/gpu_dump/gpu_dump.h"
#include "types/literal.h"

namespace hlokit {

// A dump with its kernels parsed.
class GpuReplay {
 public:
  struct Options {
    int threads = 1;        // of the host
    int64_t max_steps = 0;  // of HLO and of each kernel; 0: no limit
    ptx::LaunchChecks checks;
    bool profile = false;  // LaunchStats::counts of each launch
  };
  // What one launch did.
  struct Launched {
    std::string instruction, kernel;
    const GpuThunk* thunk = nullptr;
    ptx::LaunchStats stats;
  };
  struct Result {
    Literal value;
    std::vector<Launched> launches;
    // Instructions that the interpreter computed, with how often: opcode and name.
    std::vector<std::string> on_host;
  };

  // Reads the files. Errors: those of files that cannot be read; InvalidArgument, rendered with
  // place and source line, for PTX that does not parse.
  static absl::StatusOr<GpuReplay> Load(GpuDumpFiles files);
  GpuReplay(GpuReplay&&) noexcept;
  ~GpuReplay();

  const GpuDumpFiles& files() const { return files_; }

  // `module` is the one of files().hlo. Errors, with the place of the HLO instruction:
  // InvalidArgument where dump and module do not fit, Aborted for what a kernel does wrong.
  absl::StatusOr<Result> Run(const Module& module, absl::Span<const Literal* const> arguments,
                             const Options& options) const;

 private:
  GpuReplay() = default;

  struct Kernels;
  class Device;
  GpuDumpFiles files_;
  GpuBuffers buffers_;
  std::vector<GpuThunk> thunks_;
  std::unique_ptr<Kernels> kernels_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
