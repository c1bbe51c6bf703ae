// The command line of hlo-run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ptxsim/launch_options.h"
#include "tools/common/inputs.h"

namespace hlokit {

// Before its messages. Not inline: one program may hold several tools, each with its own.
constexpr absl::string_view kTool = "hlo-run";

// One kernel of a PTX file.
struct PtxOptions {
  std::string file;    // empty: not asked for
  std::string kernel;  // empty: the only one
  std::vector<uint32_t> grid = {1}, block = {1}, cluster = {1};
  int64_t shared = 0;  // bytes of dynamic shared memory
};

// Which instructions --isolate-instructions runs: patterns (re2) of all of a name or an opcode.
struct InstructionFilter {
  std::string name, skip_name, opcode, skip_opcode;  // empty: no such bound
  int64_t shards = 1, shard = 0;
};

struct RunOptions : InputOptions {
  std::vector<std::string> files;
  std::string platform = "cpu";
  std::string reference_platform;  // empty: no comparison
  std::string expected;            // a file of recorded results to compare with

  std::vector<std::string> infeed;  // files of items; empty: random

  // Results.
  std::string output, json, outfeed;
  std::string output_literals;  // RunHloModuleLiterals
  bool print_literals = false, stats = false;
  double abs_error = 1e-3, rel_error = 1e-3;
  int64_t ulps = -1;  // instead of the errors above, where it is given

  // Looking inside.
  bool bisect = false, check_nans = false, check_infs = false, isolate_instructions = false;
  std::string trace, trace_to = "trace.npz";  // names (re2), and the file of their values
  std::string isolate, isolate_to;            // an instruction; the stem of the files, or its name
  InstructionFilter filter;                   // of isolate_instructions
  int64_t isolate_run = 0;                    // of the instruction's computation
  int height = 0;                             // how many operands deep to cut

  // Limits; 0: none.
  int64_t max_steps = 0, memory_limit = 0;  // bytes
  double time_limit = 0;                    // seconds

  // Compilation.
  bool run_passes = true, verify = true, verify_each = false, allow_unknown_attributes = false;
  bool run_reference_passes = true;
  std::vector<std::string> plugins;  // shared objects with passes, loaded before anything else
  std::string passes;                // instead of the platform's pipeline
  std::vector<std::string> disable_passes, enable_passes_only;  // of the pipeline
  int64_t while_rounds = 0;                                     // of each loop; 0: as it is
  std::string module_format;                                    // as LoadOptions has it
  int opt_level = 2, threads = 0;
  bool flush_denormals = false, compile_only = false, donate = false;
  std::string dump_to, cache_dir;
  std::string freeze_inputs;  // names (re2) of parameters; empty: none
  bool time_passes = false;
  bool sanitize = false;
  std::string profile;  // "table", or the file of a trace; empty: none
  bool wants_profile_table() const { return profile == "table"; }

  PtxOptions ptx;                   // a PTX file instead of modules
  std::vector<std::string> checks;  // of simulated kernels: "races", ...
  std::string kernels;              // XLA's GPU dump, whose kernels run instead of ours

  // Execution.
  std::vector<std::string> load;        // libraries of custom calls
  int64_t iterations = 1, warmup = -1;  // -1: one where times are asked for
  double min_seconds = 0;
  bool different_seeds = false;    // for each iteration
  bool profile_execution = false;  // print the time of each run
  std::string output_mode = "return_outputs";
  int64_t num_replicas = 0, num_partitions = 0;  // 0: the module's own
  std::string partition = "auto";  // a module that stands before partitioning: yes, no (each device
                                   // computes whole arrays), auto: yes where that is possible

  // Several processes.
  std::string distributed = "auto";  // mpi, none, or auto: mpi where a launcher started several
  bool whole_outputs = false;  // of a partitioned module: arrays as one device would have them
  int64_t local_devices = 0;   // of each process; 0: as many as the others have
  double timeout = 60;         // seconds that another process may be silent
};

// Fills `options`. False where the tool should end with `exit_status` (--help, a bad flag).
bool ParseRunOptions(int argc, const char* const* argv, RunOptions& options, int& exit_status);

// How many threads of the host a run has: --threads, or one a core.
// What --check asks for.
ptx::LaunchChecks LaunchChecksOf(const RunOptions& options);
int ThreadsOf(const RunOptions& options);

// Does the work of one call of hlo-run and returns its exit status.
int RunHloRun(const RunOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
