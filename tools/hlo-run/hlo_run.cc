// The work of hlo-run: each file is loaded, compiled, run, compared and reported.
//   load and verify -> devices and shardings -> arguments -> (probes | run) -> report
//   -> compare with the snapshot, with expected values, with the reference platform
// The exit status is that of the worst file.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analysis/work_bound.h"
#include "backends/platforms/platforms.h"
#include "ffi/registry.h"
#include "passes/plugin.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/common/input_files.h"
#include "tools/common/inputs.h"
#include "tools/common/literal_files.h"
#include "tools/common/load.h"
#include "tools/common/messages.h"
#include "tools/common/report.h"
#include "tools/common/sharded_entry.h"
#include "tools/common/signals.h"
#include "tools/hlo-run/chosen_passes.h"
#include "tools/hlo-run/execute.h"
#include "tools/hlo-run/host_queues.h"
#include "tools/hlo-run/job.h"
#include "tools/hlo-run/mismatch.h"
#include "tools/hlo-run/options.h"
#include "tools/hlo-run/outputs.h"
#include "tools/hlo-run/partitioned.h"
#include "tools/hlo-run/probe_text.h"
#include "tools/hlo-run/probes.h"
#include "tools/hlo-run/replay.h"
#include "tools/hlo-run/run_ptx.h"
#include "tools/hlo-run/run_report.h"
#include "types/compare.h"

namespace hlokit {
namespace {

void Note(const std::string& text) {
  ClearProgress();
  std::fprintf(stderr, "%s: %s\n", kTool.data(), text.c_str());
}

// Replicas times partitions, after --num-replicas and --num-partitions have had their say.
absl::StatusOr<int64_t> SetDevices(Module& module, const RunOptions& o) {
  ModuleHeader& header = module.header();
  if (o.num_replicas > 0) header.replica_count = o.num_replicas;
  if (o.num_partitions > 0) header.num_partitions = o.num_partitions;
  int64_t devices = 0;
  constexpr int64_t kMaxSimulatedDevices = 1024;
  if (header.replica_count < 1 || header.num_partitions < 1 ||
      __builtin_mul_overflow(header.replica_count, header.num_partitions, &devices) ||
      devices > kMaxSimulatedDevices)
    return InvalidArgument(header.replica_count, " replicas of ", header.num_partitions,
                           " partitions: this machine stands in for at most ", kMaxSimulatedDevices,
                           " devices");
  return devices;
}

// How the entry is cut, where the module stands before partitioning; its header then says on how
// many partitions it runs.
absl::StatusOr<ShardedEntry> MakeSharded(Module& module, const RunOptions& o) {
  ASSIGN_OR_RETURN(const bool by_device, InputsDifferByDevice(o));
  const bool shards = module.header().replica_count == 1 && IsUnpartitioned(module);
  if (!shards && !RunsSharded(module, o.num_partitions, by_device)) return ShardedEntry();
  if (o.num_partitions <= 0 && module.header().num_partitions == 1)
    module.header().num_partitions = DevicesNamed(module);
  ASSIGN_OR_RETURN(const int64_t devices, SetDevices(module, o));
  if (module.header().replica_count > 1)
    return Unimplemented("several replicas of a module that is not yet partitioned");
  return ShardedEntry::Of(module, devices);
}

// What gave the results that are compared, for messages.
struct Origin {
  const Module* module = nullptr;  // before its passes; null: not known
  const Side* side = nullptr;      // computes operands' values; null: too dear
  absl::Span<const DeviceArguments> arguments;
};

// Prints what differs, where in the program it comes from, or that all agree, and of how many
// elements; false where they differ.
bool CompareResults(const std::vector<Literal>& expected, const std::vector<Literal>& actual,
                    const RunOptions& o, absl::string_view reference, const Origin& origin) {
  bool equal = true;
  int64_t compared = 0, nans = 0, arrays = 0, differing = 0;
  for (size_t device = 0; device < expected.size(); ++device) {
    const CompareResult result = Compare(expected[device], actual[device], CompareOptionsOf(o));
    if (expected.size() > 1 && !result.equal) PrintOut(absl::StrCat("device ", device, ":\n"));
    PrintOut(result.Report(/*all=*/!result.equal));
    if (origin.module != nullptr && equal && !result.equal)  // of the first device that differs
      PrintOut(MismatchText(*origin.module, result, origin.side,
                            origin.side != nullptr ? origin.arguments[device] : DeviceArguments()));
    equal &= result.equal;
    compared += result.Compared();
    nans += result.NanMatches();
    arrays += static_cast<int64_t>(result.leaves.size());
    differing += result.DifferingArrays();
  }
  PrintOut(absl::StrCat(
      o.platform, " and ", reference, equal ? " agree" : " differ",
      equal || arrays < 2 ? "" : absl::StrCat(" in ", differing, " of ", arrays, " arrays"), " (",
      compared, " elements compared", nans > 0 ? absl::StrCat(", ", nans, " are NaN in both") : "",
      ")\n"));
  return equal;
}

// What --sanitize finds, told; false where it is anything.
absl::StatusOr<bool> RunSanitized(const RunOptions& o, Client& client, const LoadedModule& loaded,
                                  absl::Span<const DeviceArguments> arguments) {
  ASSIGN_OR_RETURN(const std::unique_ptr<HostFeeds> feeds, HostFeeds::Open(o));
  ASSIGN_OR_RETURN(const std::vector<absl::Status> findings,
                   Sanitize(client, *loaded.module, arguments, o, feeds->Queues()));
  ClearProgress();
  for (const absl::Status& finding : findings) {
    if (PlaceOf(finding).valid()) {
      ShowStatus(finding, *loaded.source);
    } else {
      ShowFault(kTool, "error", finding);
    }
  }
  return findings.empty();
}

// A client of a platform that gets ready while files are read.
absl::StatusOr<std::unique_ptr<Client>> MakeClient(const std::string& name) {
  ASSIGN_OR_RETURN(const Platform* const platform, PlatformNamed(name));
  return Client::Create(*platform, {.warm_up = true});
}

// That the platform can do what the flags ask for.
absl::Status CheckCapabilities(const RunOptions& o, const Capabilities& can) {
  if (!o.profile.empty() && o.kernels.empty() && (o.compile_only || !can.profiles))
    return InvalidArgument("--profile: only runs on the ", PlatformsWith(&Capabilities::profiles),
                           " platform are measured");
  if (o.sanitize && !can.sanitizes)
    return InvalidArgument("--sanitize: only code of the ", PlatformsWith(&Capabilities::sanitizes),
                           " platform checks itself, not ", o.platform);
  if (o.donate && !can.donates)
    return InvalidArgument("--donate: only the ", PlatformsWith(&Capabilities::donates),
                           " platform writes results over arguments");
  if (!o.freeze_inputs.empty() && !can.freezes)
    return InvalidArgument("--freeze-inputs: only the ", PlatformsWith(&Capabilities::freezes),
                           " platform keeps weights packed");
  return absl::OkStatus();
}

// Where the module runs, in a job of several processes; all agree that they run the same.
absl::StatusOr<RunDevices> DevicesOfJob(const RunOptions& o, const Module& module, Job* job) {
  if (job == nullptr) return RunDevices();
  RETURN_IF_ERROR(job->AgreeOn(module, o));
  ASSIGN_OR_RETURN(DeviceAssignment devices, job->Assign(module, o.local_devices));
  ASSIGN_OR_RETURN(const std::string table, job->Table(devices));
  if (job->speaks()) std::fputs(table.c_str(), stderr);
  return RunDevices{std::move(devices), job->Communicators(),
                    [job](bool more) { return job->Tell(more); }};
}

// The results of all devices where this process has those of its own.
absl::Status GatherResults(const RunDevices& devices, Job* job, Execution& execution) {
  if (job == nullptr || execution.results.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(execution.results, job->Gather(std::move(execution.results), *devices.devices));
  return absl::OkStatus();
}

// Puts the partitioned module in place of a sharded one, where that is asked for and possible.
absl::StatusOr<PartitionedRun> Partition(const RunOptions& o, const ShardedEntry& sharded,
                                         LoadedModule& loaded) {
  if (!sharded.active() || !IsUnpartitioned(*loaded.module)) return PartitionedRun();
  std::string why;
  ASSIGN_OR_RETURN(PartitionedRun run, PartitionForRun(*loaded.module, o, why));
  if (!why.empty()) Note(absl::StrCat("each device computes whole arrays: ", why));
  if (run.module != nullptr) {
    run.active = true;
    loaded.module = std::move(run.module);
  }
  return run;
}

// The snapshot's own arguments where they are `recorded`; whole arrays of a sharded module.
absl::StatusOr<Arguments> ArgumentsOf(const RunOptions& o, const Module& before,
                                      LoadedModule& loaded, bool recorded, int64_t devices,
                                      const ShardedEntry& sharded,
                                      absl::Span<const int64_t> local) {
  if (recorded) return Arguments::OfSnapshot(before, std::move(loaded.arguments), devices);
  if (o.compile_only) return Arguments();
  return Arguments::Make(before, o, devices, sharded, {local.begin(), local.end()});
}

// Arguments as the module was read, and where it was partitioned what the devices of this process
// hold of them.
struct RunArguments {
  Arguments wholes, shards;
};

// `local`: the devices of this process; none: all. Whole arrays of files that nobody else wants
// (no reference) are not read whole: each process copies its shards alone out of the mapped files.
absl::StatusOr<RunArguments> MakeArguments(const RunOptions& o, const Module& before,
                                           LoadedModule& loaded, bool recorded, int64_t devices,
                                           const ShardedEntry& sharded, const PartitionedRun& parts,
                                           absl::Span<const int64_t> local) {
  RunArguments made;
  std::vector<int64_t> all(devices);
  std::iota(all.begin(), all.end(), 0);
  const absl::Span<const int64_t> own = local.empty() ? absl::MakeConstSpan(all) : local;
  if (parts.active && !o.compile_only && !o.inputs.empty() && o.reference_platform.empty()) {
    ASSIGN_OR_RETURN(const bool differ, InputsDifferByDevice(o));
    if (!differ) {
      ASSIGN_OR_RETURN(made.shards, Arguments::MakeShards(before, o, parts.cuts, own));
      return made;
    }
  }
  ASSIGN_OR_RETURN(made.wholes, ArgumentsOf(o, before, loaded, recorded, devices, sharded, local));
  if (parts.active && !o.compile_only) made.shards = made.wholes.CutFor(parts.cuts, own);
  return made;
}

// Shards of the results, with zeros where a device has rows that no array has, or the whole arrays.
void CutResults(const RunOptions& o, const PartitionedRun& parts, const ShardedEntry& sharded,
                absl::Span<const int64_t> devices, std::vector<Literal>& results) {
  if (o.whole_outputs && parts.active) {
    std::vector<Literal> whole;
    whole.push_back(parts.cuts.JoinResults(results, parts.whole));
    results = std::move(whole);
  } else if (o.whole_outputs) {
    results.resize(1);
  } else {
    results = parts.active ? parts.cuts.WithoutPadding(std::move(results), parts.whole, devices)
                           : sharded.CutResults(results, devices);
  }
}

// Whether each process writes the results of its own devices into the folder of --output, and no
// process wants them all.
bool WritesApart(const RunOptions& o, const Job* job) {
  return job != nullptr && WritesFolder(o.output) && !o.whole_outputs && !o.print_literals &&
         o.reference_platform.empty() && o.expected.empty() && o.output_mode == "return_outputs" &&
         !o.compile_only;
}

// Writes them; the report then has no results left to write.
absl::Status WriteApart(RunOptions& o, const PartitionedRun& parts, const ShardedEntry& sharded,
                        absl::Span<const int64_t> devices, Job& job, Execution& execution) {
  if (sharded.active()) CutResults(o, parts, sharded, devices, execution.results);
  RETURN_IF_ERROR(WriteShards(o.output, execution.results, devices));
  execution.results.clear();
  o.output_mode = "not_return_outputs";
  return job.Tell(true).status();  // all have written
}

// Cuts results as the module's text has them and reports what the run came to.
absl::Status Deliver(const RunOptions& o, const LoadedModule& loaded, const ShardedEntry& sharded,
                     const PartitionedRun& parts, bool speaks, Execution& execution) {
  if (!execution.stats.kept.ok())
    ShowFault(kTool, "warning", Annotate(execution.stats.kept, "--cache-dir keeps nothing new"));
  const bool has_all = speaks && !execution.results.empty();
  if (sharded.active() && has_all) CutResults(o, parts, sharded, {}, execution.results);
  if (o.output_mode == "return_device_0_outputs" && has_all) execution.results.resize(1);
  if (speaks) RETURN_IF_ERROR(Report(o, loaded, execution));
  return absl::OkStatus();
}

// A run of the reference platform on the same arguments.
struct ReferenceRun {
  Client& client;
  std::unique_ptr<Module> module;
  const std::vector<DeviceArguments>& arguments;
  const RunDevices& devices;
  Job* job;
  const ShardedEntry& sharded;
};

absl::StatusOr<bool> AgreesWithReference(const RunOptions& o, ReferenceRun run,
                                         const std::vector<Literal>& results, Origin origin) {
  ASSIGN_OR_RETURN(const std::unique_ptr<HostFeeds> same_feeds, HostFeeds::Open(o));
  const Stopwatch watch;
  auto expected = Execute(run.client, std::move(run.module), run.arguments, o, same_feeds->Queues(),
                          /*timed=*/false, {}, run.devices);
  if (!expected.ok()) return Annotate(expected.status(), o.reference_platform);
  RETURN_IF_ERROR(GatherResults(run.devices, run.job, *expected));
  if (run.job != nullptr && !run.job->speaks()) return true;
  if (run.sharded.active() && o.whole_outputs)
    expected->results.resize(1);
  else if (run.sharded.active())
    expected->results = run.sharded.CutResults(expected->results);
  if (o.output_mode == "return_device_0_outputs") expected->results.resize(1);
  ClearProgress();
  constexpr double kCheapSeconds = 5;
  const Side side{&run.client, CompileOptionsOf(o, /*reference=*/true), o.reference_platform};
  if (run.job == nullptr && run.arguments.size() == 1 && watch.Seconds() < kCheapSeconds) {
    origin.side = &side;
    origin.arguments = run.arguments;
  }
  return CompareResults(expected->results, results, o, o.reference_platform, origin);
}

// Everything after loading. `agrees` is what the comparison found. `job` is null where this process
// has all devices.
absl::Status RunLoaded(RunOptions o, LoadedModule& loaded, Job* job, bool& agrees) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, MakeClient(o.platform));
  RETURN_IF_ERROR(CheckCapabilities(o, client->capabilities()));
  std::unique_ptr<Client> reference;
  if (!o.reference_platform.empty()) {
    ASSIGN_OR_RETURN(reference, MakeClient(o.reference_platform));
  }
  ASSIGN_OR_RETURN(const ShardedEntry sharded, MakeSharded(*loaded.module, o));
  if (o.whole_outputs && !sharded.active())
    return InvalidArgument(
        "--whole-outputs joins shards of a module before partitioning; this one "
        "does not say how its results are cut");
  ASSIGN_OR_RETURN(const int64_t devices, SetDevices(*loaded.module, o));
  ASSIGN_OR_RETURN(const RunDevices run_devices, DevicesOfJob(o, *loaded.module, job));
  const absl::Span<const int64_t> local =
      job != nullptr ? run_devices.devices->local() : absl::Span<const int64_t>();
  const int64_t local_count = job != nullptr ? static_cast<int64_t>(local.size()) : devices;
  const bool speaks = job == nullptr || job->speaks();
  if (o.donate && devices > 1)
    return InvalidArgument("--donate gives away the arguments of one device, not of ", devices);
  if (!o.compile_only) RETURN_IF_ERROR(CheckWork(*loaded.module));
  ASSIGN_OR_RETURN(const int64_t elided, FillElidedConstants(*loaded.module, o));
  if (elided > 0) Note(absl::StrCat(elided, " elided constants are ", o.elided_constants));
  const bool recorded = loaded.is_snapshot && o.inputs.empty() && !o.compile_only;
  if (recorded && job != nullptr) return Unimplemented("a snapshot run by several processes");
  std::unique_ptr<Module> copy =
      reference != nullptr || sharded.active() ? loaded.module->Clone() : nullptr;
  ASSIGN_OR_RETURN(PartitionedRun parts, Partition(o, sharded, loaded));
  ASSIGN_OR_RETURN(RunArguments arguments,
                   MakeArguments(o, copy != nullptr ? *copy : *loaded.module, loaded, recorded,
                                 devices, sharded, parts, local));
  const int64_t lists = o.compile_only ? 0 : local_count;
  const bool compares = reference != nullptr || !o.expected.empty() || recorded;
  const std::unique_ptr<Module> shown =
      !compares || o.compile_only ? nullptr : (copy ? *copy : *loaded.module).Clone();
  Origin origin{shown.get(), nullptr, {}};
  const std::vector<DeviceArguments> wholes = arguments.wholes.Pointers(lists);
  std::vector<DeviceArguments> pointers = parts.active ? arguments.shards.Pointers(lists) : wholes;
  if (WantsProbes(o) && !o.compile_only)
    return RunProbes(o, *loaded.module, pointers, *client, reference.get(), agrees);
  std::vector<Literal*> given;
  if (o.donate && devices == 1) given = arguments.wholes.Given();
  ASSIGN_OR_RETURN(const std::unique_ptr<HostFeeds> feeds, HostFeeds::Open(o));
  if (o.sanitize) {
    ASSIGN_OR_RETURN(const bool clean, RunSanitized(o, *client, loaded, pointers));
    agrees &= clean;
    if (!clean) return absl::OkStatus();  // what such code computes is not worth a look
  }
  Execution execution;
  if (o.kernels.empty()) {
    ASSIGN_OR_RETURN(execution, Execute(*client, std::move(loaded.module), pointers, o,
                                        feeds->Queues(), /*timed=*/true, given, run_devices));
  } else {
    ASSIGN_OR_RETURN(execution, ExecuteReplay(*loaded.module, pointers, o));
  }
  if (WritesApart(o, job))
    RETURN_IF_ERROR(WriteApart(o, parts, sharded, local, *job, execution));
  else
    RETURN_IF_ERROR(GatherResults(run_devices, job, execution));
  RETURN_IF_ERROR(Deliver(o, loaded, sharded, parts, speaks, execution));
  if (!o.output_literals.empty() && !o.compile_only)
    RETURN_IF_ERROR(WriteRun(o.output_literals, pointers[0], execution.results[0]));
  if (recorded && loaded.result)
    agrees &= CompareResults({*loaded.result}, {execution.results[0]}, o, "the snapshot", origin);
  if (!o.outfeed.empty()) RETURN_IF_ERROR(feeds->Write(o.outfeed, devices));
  if (o.outfeed.empty() && o.output.empty() && o.json.empty() && speaks)
    PrintOut(feeds->Describe(devices));
  if (!o.expected.empty() && !o.compile_only && speaks) {
    ASSIGN_OR_RETURN(const std::vector<Literal> wanted, ReadResults(o.expected, execution.results));
    agrees &= CompareResults(wanted, execution.results, o, o.expected, origin);
  }
  if (reference == nullptr || o.compile_only) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      const bool same,
      AgreesWithReference(o, {*reference, std::move(copy), wholes, run_devices, job, sharded},
                          execution.results, origin));
  agrees &= same;
  return absl::OkStatus();
}

// With `job`, all processes end alike.
int RunModule(RunOptions o, absl::StatusOr<LoadedModule> loaded, Job* job) {
  if (!loaded.ok()) return ExitStatusOf(loaded.status());
  if (!loaded->program.empty() && (job == nullptr || job->speaks()))
    PrintOut(absl::StrCat("== ", loaded->program, "\n"));
  bool agrees = true;
  absl::Status status = FixTripCounts(*loaded->module, o);
  if (status.ok()) status = ChoosePasses(*loaded->module, o);
  if (status.ok()) status = RunLoaded(o, *loaded, job, agrees);
  if (status.ok() && job != nullptr) {
    const absl::StatusOr<bool> told = job->Tell(agrees);
    status = told.status();
    agrees = told.ok() && *told;
  }
  ClearProgress();
  if (!status.ok()) {
    const int shown = ReportError(kTool, status, loaded->source.get());
    if (job != nullptr) job->Fail(status);
    return shown;
  }
  return agrees ? kExitDone : kExitCheckFailed;
}

int RunFile(const std::string& path, const RunOptions& o, Job* job) {
  LoadOptions load;
  load.verify = o.verify;
  load.input_format = o.module_format;
  load.allow_unknown_attributes = o.allow_unknown_attributes;
  load.argument_sizes = InputSizes(o.inputs, o.input_format);
  auto source = ReadSource(path);
  if (!source.ok()) return ReportError(kTool, source.status());
  std::vector<absl::StatusOr<LoadedModule>> programs = LoadModules(*std::move(source), load);
  if (programs.size() > 1 && (!o.output.empty() || !o.json.empty()))
    return ReportError(kTool, InvalidArgument("--output and --json take one program at a time, ",
                                              path, " has ", programs.size()));
  int worst = kExitDone;
  for (absl::StatusOr<LoadedModule>& program : programs)
    worst = std::max(worst, RunModule(o, std::move(program), job));
  return worst;
}

constexpr absl::string_view kModuleName = "{}";

// The options for one module of several: `{}` in names of files is the module's, without folder and
// extension.
RunOptions OptionsFor(const RunOptions& o, const std::string& path) {
  RunOptions each = o;
  const std::string name = std::filesystem::path(path).stem().string();
  const auto fill = [&](std::string& file) {
    file = absl::StrReplaceAll(file, {{kModuleName, name}});
  };
  for (std::string& input : each.inputs) fill(input);
  for (std::string* file : {&each.output, &each.json, &each.expected}) fill(*file);
  return each;
}

// Whether several modules would write to the same file.
bool IsShared(const std::string& file) {
  return !file.empty() && !absl::StrContains(file, kModuleName);
}

}  // namespace

int RunHloRun(const RunOptions& o) {
  EndOnSignals(kTool.data(), o.time_limit);
  if (!o.ptx.file.empty()) return RunPtx(o);
  if (o.files.size() > 1 && (IsShared(o.output) || IsShared(o.json)))
    return ReportError(kTool, InvalidArgument("--output and --json take one module at a time, or a "
                                              "path with {}, which is the module's name"));
  if (o.donate && (!o.reference_platform.empty() || !o.output_literals.empty() || WantsProbes(o)))
    return ReportError(kTool, InvalidArgument("--donate gives arguments away that comparisons, "
                                              "probes and --output-literals-file need"));
  if (o.sanitize && (o.compile_only || WantsProbes(o)))
    return ReportError(kTool, InvalidArgument("--sanitize checks what runs, not what is only "
                                              "compiled or probed"));
  if (o.cache_dir == "-")
    return ReportError(kTool, InvalidArgument("--cache-dir: - is standard output, not a folder"));
  if (!o.run_passes && !o.passes.empty())
    return ReportError(kTool, InvalidArgument("--no-passes and --passes exclude each other"));
  for (const std::string& library : o.load)
    if (auto targets = LoadCustomCalls(library); !targets.ok())
      return ReportError(kTool, targets.status());
  if (absl::Status loaded = LoadPassPlugins(o.plugins); !loaded.ok())
    return ReportError(kTool, loaded);
  std::vector<std::string> files = o.files;
  if (files.empty() && !o.kernels.empty()) {
    // The module that the kernels are of.
    const absl::StatusOr<std::string> module = ReplayedModule(o.kernels);
    if (!module.ok()) return ReportError(kTool, module.status());
    files.push_back(*module);
  }
  const absl::StatusOr<std::unique_ptr<Job>> started = Job::Start(o);
  if (!started.ok()) return ReportError(kTool, started.status());
  Job* const job = started->get();
  int worst = kExitDone;
  for (const std::string& path : files) {
    if (files.size() > 1 && (job == nullptr || job->speaks()))
      PrintOut(absl::StrCat("== ", path, "\n"));
    RunOptions each = OptionsFor(o, path);
    if (o.different_seeds) each.iterations = 1;
    for (int64_t k = 0; k < (o.different_seeds ? o.iterations : 1); ++k, ++each.seed)
      worst = std::max(worst, RunFile(path, each, job));
    if (worst > kExitCheckFailed && job != nullptr) {
      job->Fail(InvalidArgument(path, " cannot be run"));
      break;
    }
  }
  return worst;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
