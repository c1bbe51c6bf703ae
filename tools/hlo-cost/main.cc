// hlo-cost: what a run of a module takes, told without running it.
#include "CLI/CLI.hpp"
#include "passes/manager.h"
#include "passes/plugin.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/load.h"
#include "tools/common/signals.h"
#include "tools/hlo-cost/tables.h"

namespace hlokit {
namespace {

constexpr char kTool[] = "hlo-cost";
constexpr char kExamples[] = R"(Examples:
  hlo-cost module.hlo                        instructions by flops
  hlo-cost module.hlo --by=source --sort=bytes
  hlo-cost module.hlo --by=loop --trips=100
  hlo-cost module.hlo --passes=fusion        after passes
  hlo-cost module.hlo --memory --top=5       what memory is taken by, over time

A multiplication and an addition are a flop each, any other operation on an element one; functions such as exp are counted
apart. Bytes are those read and written by each instruction, so fused modules take fewer. All branches count.)";

struct CostOptions {
  std::string input = "-", output = "-", passes, format = "text";
  std::vector<std::string> plugins;
  int64_t trips = 1;
  bool memory = true;
  TableOptions table;
  LoadOptions load;
};

bool Parse(int argc, const char* const* argv, CostOptions& o, int& exit_status) {
  CLI::App app("Counts what a run of an HLO module computes and moves.", kTool);
  app.add_option("input", o.input, "HLO text or protobuf, or -")->type_name("FILE");
  app.add_option("-o,--output", o.output, "where the table goes")->type_name("FILE");
  app.add_option("--by", o.table.by, "what a row is")
      ->check(CLI::IsMember({"instruction", "opcode", "computation", "op_name", "source", "loop"}));
  app.add_option("--sort", o.table.sort, "largest first")
      ->check(CLI::IsMember({"flops", "transcendentals", "bytes"}));
  app.add_option("--top", o.table.top, "rows; 0: all")->check(NotNegative());
  app.add_flag_callback(
      "--all", [&o] { o.table.top = 0; }, "all rows");
  app.add_option("--trips,--while-execution-count", o.trips,
                 "rounds of loops whose number is not known")
      ->check(NotNegative());
  AddPluginFlag(app, o.plugins);
  app.add_option("--passes", o.passes, "passes to run before")->type_name("A,B");
  app.add_option("--format", o.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option(
         "--input-format", o.load.input_format,
         "text (hlo, txt), pb, pbtxt, json or stablehlo (mlir), whatever the file looks like")
      ->transform(ModuleFormat());
  app.add_flag("!--no-memory", o.memory, "leave peak memory out");
  app.add_flag("--memory", o.table.over_time,
               "temporaries over time, and those of the peak by opcode, source line and scope");
  app.add_flag("!--no-verify", o.load.verify, "take the module as it is");
  app.add_flag("--allow-unknown-attributes", o.load.allow_unknown_attributes,
               "keep attributes that this version does not know, with a warning");
  if (!ParseToolFlags(app, argc, argv, kExamples, exit_status)) return false;
  if (o.memory || !o.table.over_time) return true;
  exit_status =
      ReportError(kTool, InvalidArgument("--memory and --no-memory contradict each other"));
  return false;
}

absl::Status Count(const CostOptions& o, Module& module) {
  if (!o.passes.empty()) RETURN_IF_ERROR(RunPasses(module, o.passes));
  RETURN_IF_ERROR(RunPasses(module, "while-loop-trip-count-annotator"));
  const ModuleCosts costs = CostsOf(module, o.trips);
  const std::unique_ptr<Module> flat = module.Clone();
  RETURN_IF_ERROR(RunPasses(*flat, "flatten-call-graph"));
  // What cannot be planned (dynamic calls) has costs, but no peak.
  const auto peak = PeakMemoryOf(*flat);
  if (o.table.over_time && !peak.ok()) return peak.status();
  const PeakMemory* shown = o.memory && peak.ok() ? &*peak : nullptr;
  return AtomicWriteFile(o.output, o.format == "json" ? CostJson(costs, shown, o.table)
                                                      : CostText(costs, shown, o.table));
}

int Run(const CostOptions& o) {
  EndOnSignals(kTool, /*time_limit_s=*/0);
  if (absl::Status loaded = LoadPassPlugins(o.plugins); !loaded.ok())
    return ReportError(kTool, loaded);
  int exit_status = kExitDone;
  const auto loaded = LoadFile(kTool, o.input, o.load, exit_status);
  if (!loaded) return exit_status;
  return ReportError(kTool, Count(o, *loaded->module), loaded->source.get());
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  hlokit::CostOptions options;
  int exit_status = 0;
  if (!hlokit::Parse(argc, argv, options, exit_status)) return exit_status;
  return hlokit::Run(options);
}
// SPDX-License-Identifier: Apache-2.0
