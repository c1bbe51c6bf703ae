// Flags of hlo-run; second names are those of XLA's run_hlo_module and hlo_runner_main.
#include "tools/hlo-run/options.h"

#include <algorithm>
#include <thread>

#include "CLI/CLI.hpp"
#include "absl/algorithm/container.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/inputs.h"

namespace hlokit {
namespace {

constexpr char kExamples[] = R"(Examples:
  hlo-run module.hlo                                    random inputs; prints shapes and times
  hlo-run module.hlo --input=in.npz --output=out.npz    arrays in0, in1, ... in; out0, out1, ... out
  hlo-run module.hlo --input=a.npy --input=b.txt        one file a parameter
  hlo-run module.hlo --reference-platform=interpreter   runs both, names the worst difference
  hlo-run snapshot.pb                                   the arguments inside, against the result inside
  hlo-run module.hlo --bisect                           names the first instruction that is wrong
  hlo-run --ptx k.ptx --kernel=add --grid=4 --block=256 --input=x.npy --input='f32[1024]'   a GPU kernel
  hlo-run --platform=ptx-sim --kernels=DUMP --input=in.npz --expected=out.npz   the kernels that XLA made for a GPU
  hlo-run after_optimizations.txt --no-passes --iterations=100 --json=times.json

Exit status: 0 done; 1 something differs or is wrong; 2 bad flags, module or inputs; 3 a fault of hlo-run.)";

// For counts: CLI11's own words for "at least" spell out the largest double.
CLI::Validator AtLeast(int64_t least) {
  return CLI::Validator(
      [least](std::string& text) {
        int64_t value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= least) return std::string();
        return "expected a number of at least " + std::to_string(least) + ", given " + text;
      },
      "");
}

void AddFeedFlags(CLI::App& app, RunOptions& o) {
  AddInputFlags(app, o);
  app.add_option("--literals-format", o.input_format, "format of the inputs, whatever their names")
      ->check(CLI::IsMember({"npz", "npy", "txt", "bin", "pb", "pbtxt"}));
  app.add_option(
         "--infeed", o.infeed,
         "npz (item0, item1, ...) or txt (a literal a line) to feed in, else random; repeatable")
      ->type_name("FILE");
}

void AddResultFlags(CLI::App& app, RunOptions& o) {
  app.add_option("--output,--dump-output-literal-to", o.output,
                 "results as .npz (out0, ...), .txt (- too), .pb (LiteralProto), or .npy files in "
                 "a folder; {} is the module's name, here, in --input, --expected and --json")
      ->type_name("PATH");
  app.add_option("--output-literals-file", o.output_literals,
                 "arguments and result as RunHloModuleLiterals, .pb or .pbtxt")
      ->type_name("FILE");
  app.add_flag("--whole-outputs", o.whole_outputs,
               "of a module that is partitioned before it runs: whole arrays, not shards");
  app.add_option("--output-mode", o.output_mode,
                 "return_outputs, not_return_outputs, or return_device_0_outputs")
      ->check(CLI::IsMember({"return_outputs", "not_return_outputs", "return_device_0_outputs"}));
  app.add_option("--outfeed", o.outfeed, "what the outfeed gives, as .npz (item0, item1, ...)")
      ->type_name("FILE");
  app.add_flag("--print-literals,--log-output", o.print_literals, "print every result in full");
  app.add_option("--json", o.json, "write times, memory and counts")->type_name("FILE");
  app.add_flag("--stats", o.stats,
               "print what compiling came to, and instructions without native code");
  app.add_option("--reference-platform", o.reference_platform, "run this one too and compare")
      ->type_name("NAME");
  app.add_option("--expected", o.expected, "compare with these results: an .npz of out0, ...")
      ->type_name("FILE");
  app.add_option("--abs-error,--abs-error-bound", o.abs_error, "largest absolute error that passes")
      ->check(NotNegative());
  app.add_option("--rel-error,--rel-error-bound", o.rel_error, "largest relative error that passes")
      ->check(NotNegative());
  app.add_option("--ulps", o.ulps,
                 "largest error in units in the last place, instead of the two above")
      ->check(NotNegative());
}

void AddProbeFlags(CLI::App& app, RunOptions& o) {
  app.add_flag("--bisect", o.bisect,
               "name the first instruction where platform and reference differ");
  app.add_flag("--check-nans", o.check_nans, "name the first instruction that makes a NaN");
  app.add_flag("--check-infs", o.check_infs, "the same for infinities and NaN");
  CLI::Option* trace =
      app.add_option("--trace", o.trace, "write the values of instructions whose names match")
          ->type_name("REGEX");
  app.add_option("--trace-to", o.trace_to, "where --trace writes: an .npz")
      ->type_name("FILE")
      ->needs(trace);
  CLI::Option* isolate =
      app.add_option("--isolate", o.isolate, "cut an instruction out, with the values it reads")
          ->type_name("NAME");
  app.add_option("--isolate-to", o.isolate_to,
                 "where --isolate, --bisect and --check-nans write: STEM.hlo and STEM.npz")
      ->type_name("STEM");
  app.add_option("--isolate-run", o.isolate_run,
                 "which run of the instruction, counted from 0: the round of a loop")
      ->check(AtLeast(0))
      ->needs(isolate);
  app.add_option("--height", o.height, "how many operands deep --isolate cuts; -1: all")
      ->check(CLI::Range(-1, 1000000))
      ->needs(isolate);
  app.add_flag("--isolate-instructions", o.isolate_instructions,
               "run each distinct instruction by itself; print a table");
  app.add_option("--filter-by-name", o.filter.name, "of --isolate-instructions: only such names")
      ->type_name("REGEX");
  app.add_option("--skip-by-name", o.filter.skip_name, "none of such names")->type_name("REGEX");
  app.add_option("--filter-by-opcode", o.filter.opcode, "only such opcodes")->type_name("REGEX");
  app.add_option("--skip-by-opcode", o.filter.skip_opcode, "none of such opcodes")
      ->type_name("REGEX");
  app.add_option("--num-shards", o.filter.shards, "each so many-th of them")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--shard-index", o.filter.shard, "from this one on, counted from 0")
      ->check(AtLeast(0));
}

void AddLimitFlags(CLI::App& app, RunOptions& o) {
  app.add_option("--max-steps", o.max_steps, "instructions that a run may take on a device")
      ->check(AtLeast(1));
  app.add_option("--memory-limit", o.memory_limit, "of a run, such as 500MB or 2GiB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true))
      ->type_name("SIZE");
  app.add_option("--time-limit", o.time_limit, "seconds for everything")->check(NotNegative());
}

void AddCompileFlags(CLI::App& app, RunOptions& o) {
  app.add_option("--platform,--device-type", o.platform, "cpu, interpreter, ptx-sim or cuda")
      ->type_name("NAME");
  AddPluginFlag(app, o.plugins);
  app.add_option("--passes", o.passes, "passes to run instead of the platform's pipeline")
      ->type_name("A,B");
  app.add_flag("!--no-passes,!--disable-all-hlo-passes,!--run-xla-backend-only", o.run_passes,
               "run the module as it stands: a scheduled, optimized dump");
  app.add_flag("--run-test-hlo-passes", o.run_passes, "false: the same as --no-passes");
  app.add_flag("--run-reference-hlo-passes", o.run_reference_passes,
               "false: --no-passes for the reference platform");
  app.add_option("--disable-passes", o.disable_passes, "leave these passes of the pipeline out")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_option("--enable-passes-only", o.enable_passes_only, "leave all others out")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_option("--while-execution-count", o.while_rounds,
                 "for measurements: loops run so many rounds, whatever their condition says; "
                 "communication gives "
                 "zeros; 0 or less: as they are");
  app.add_option(
         "--input-format", o.module_format,
         "text (hlo, txt), pb, pbtxt, json or stablehlo (mlir), whatever the module looks like")
      ->transform(ModuleFormat());
  app.add_flag("!--no-verify", o.verify, "take the module as it is");
  app.add_flag("--verify-each", o.verify_each, "verify after each pass");
  app.add_flag("--allow-unknown-attributes", o.allow_unknown_attributes,
               "skip what this version does not know");
  app.add_option("--opt-level", o.opt_level, "0 to 3, of code generation")->check(CLI::Range(0, 3));
  app.add_option("--threads", o.threads, "0: one a core")->check(CLI::Range(0, 1024));
  app.add_flag("--flush-denormals", o.flush_denormals, "as XLA's CPU does");
  app.add_flag(
      "--donate", o.donate,
      "give away the arguments that the module donates: results are written over them, and "
      "each run goes on from the last");
  app.add_flag("--compile-only", o.compile_only, "compile, but run nothing");
  app.add_option("--dump-to,--xla-dump-to", o.dump_to,
                 "folder for the module before and after passes, IR, assembly; -: standard output")
      ->type_name("FOLDER");
  app.add_option("--cache-dir", o.cache_dir, "folder that keeps compiled code for the next time")
      ->type_name("FOLDER");
  app.add_option("--freeze-inputs", o.freeze_inputs,
                 "parameters whose names, or whose names in the program that was traced "
                 "(metadata op_name), match keep their values in all runs: weights are packed once")
      ->type_name("REGEX");
  app.add_flag("--sanitize", o.sanitize,
               "check each access to memory and index arithmetic of the code; print what is wrong");
  app.add_flag("--time-passes", o.time_passes, "print how long each step of compiling took");
  app.add_flag("--profile{table}", o.profile,
               "print instructions by the time they took; with =FILE.json write a trace for "
               "Perfetto instead");
}

void AddExecutionFlags(CLI::App& app, RunOptions& o) {
  app.add_option("--load", o.load, "shared library of custom calls (ffi/hlokit_ffi.h); repeatable")
      ->type_name("LIB.so");
  app.add_option("--iterations,--num-repeats", o.iterations, "runs to time, at least")
      ->check(AtLeast(1));
  app.add_flag("--different-random-seeds", o.different_seeds,
               "each iteration has random inputs of its own, and a comparison of its own");
  app.add_flag("--profile-execution", o.profile_execution, "print the time of each run");
  app.add_option("--warmup", o.warmup, "runs before those")->check(AtLeast(0));
  app.add_option("--min-seconds", o.min_seconds, "keep running for this long")
      ->check(NotNegative());
  app.add_option("--num-replicas", o.num_replicas, "instead of the module's own")
      ->check(CLI::Range(1, 1024));
  app.add_option("--num-partitions", o.num_partitions, "instead of the module's own")
      ->check(CLI::Range(1, 1024));
  app.add_option("--partition", o.partition,
                 "of a module with shardings that is not partitioned yet. yes: propagate and "
                 "partition, so that each device computes its shards; no: each computes whole "
                 "arrays, results are cut; auto (the default): yes where the partitioner has rules "
                 "for all of it")
      ->check(CLI::IsMember({"auto", "yes", "no"}));
  app.add_option("--distributed", o.distributed,
                 "mpi: the devices are divided among the processes of mpirun or srun; auto (the "
                 "default): where these have started several; none: each process by itself")
      ->check(CLI::IsMember({"auto", "mpi", "none"}));
  app.add_option("--local-devices", o.local_devices, "devices of each process")->check(AtLeast(1));
  app.add_option("--timeout", o.timeout, "seconds that another process may be silent")
      ->check(NotNegative());
}

void AddReplayFlags(CLI::App& app, RunOptions& o) {
  app.add_option("--kernels", o.kernels,
                 "folder of XLA's --xla_dump_to: --platform=ptx-sim runs the GPU kernels in it")
      ->type_name("DUMP");
  app.add_option("--check", o.checks,
                 "with --ptx or --kernels, several between commas: races, accesses of shared and "
                 "global memory that nothing orders; unwritten, loads of shared and local memory "
                 "that nothing has written; registers, the same for registers; lanes, shuffles "
                 "from lanes that are not there; all")
      ->delimiter(',')
      ->check(CLI::IsMember({"races", "unwritten", "registers", "lanes", "all"}))
      ->type_name("WHAT");
}

// `files`, the modules, are not wanted with --ptx.
void AddPtxFlags(CLI::App& app, PtxOptions& o) {
  CLI::Option* ptx =
      app.add_option("--ptx", o.file, "run a kernel of this PTX file in the simulator")
          ->type_name("FILE");
  app.add_option("--kernel", o.kernel, "its name, where the file has several")
      ->type_name("NAME")
      ->needs(ptx);
  app.add_option("--grid", o.grid, "blocks of the grid")
      ->type_name("X,Y,Z")
      ->delimiter(',')
      ->expected(1, 3)
      ->needs(ptx);
  app.add_option("--block", o.block, "threads of a block")
      ->type_name("X,Y,Z")
      ->delimiter(',')
      ->expected(1, 3)
      ->needs(ptx);
  app.add_option("--cluster", o.cluster, "blocks of a cluster")
      ->type_name("X,Y,Z")
      ->delimiter(',')
      ->expected(1, 3)
      ->needs(ptx);
  app.add_option("--shared", o.shared, "bytes of dynamic shared memory")
      ->type_name("BYTES")
      ->needs(ptx);
}

}  // namespace

bool ParseRunOptions(int argc, const char* const* argv, RunOptions& o, int& exit_status) {
  CLI::App app("Compiles HLO modules and runs them.", "hlo-run");
  app.add_option("files", o.files, "HLO text or protobuf, or - for standard input")
      ->type_name("FILE");
  AddCompileFlags(app, o);
  AddFeedFlags(app, o);
  AddResultFlags(app, o);
  AddExecutionFlags(app, o);
  AddProbeFlags(app, o);
  AddLimitFlags(app, o);
  AddPtxFlags(app, o.ptx);
  AddReplayFlags(app, o);
  if (!ParseToolFlags(app, argc, argv, kExamples, exit_status)) return false;
  absl::Status status = CheckInputOptions(o);
  if (status.ok() && !o.checks.empty() && o.kernels.empty() && o.ptx.file.empty())
    status = absl::InvalidArgumentError("--check goes with --ptx or --kernels");
  if (status.ok() && !o.kernels.empty()) {
    if (o.platform != "ptx-sim")
      status = absl::InvalidArgumentError("--kernels runs with --platform=ptx-sim alone");
    else if (!o.ptx.file.empty())
      status = absl::InvalidArgumentError("--kernels and --ptx exclude each other");
  } else if (status.ok() && o.files.empty() == o.ptx.file.empty())
    status = absl::InvalidArgumentError(o.files.empty() ? "files is required, or --ptx"
                                                        : "--ptx runs no modules beside it");
  if (!status.ok()) {
    exit_status = ReportError("hlo-run", status);
    return false;
  }
  return true;
}

ptx::LaunchChecks LaunchChecksOf(const RunOptions& o) {
  const auto has = [&](absl::string_view name) {
    return absl::c_linear_search(o.checks, name) || absl::c_linear_search(o.checks, "all");
  };
  return {has("races"), has("unwritten"), has("registers"), has("lanes")};
}

int ThreadsOf(const RunOptions& o) {
  return o.threads > 0 ? o.threads
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
