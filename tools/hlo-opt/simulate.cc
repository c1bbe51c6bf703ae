// From flags to the prediction: the topology is found, read and changed, the module's calls are
// made flat on a copy.
#include "tools/hlo-opt/simulate.h"

#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes/framework/schedule_keeper.h"
#include "passes/manager.h"
#include "simulate/memory_profile.h"
#include "simulate/report.h"
#include "simulate/timeline.h"
#include "support/file.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

std::string InstalledFolder() {
  return absl::StrCat(FolderOfProgram(), "/../share/hlokit/topologies");
}

// Names without ".json", sorted.
std::set<std::string> InstalledNames() {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(InstalledFolder(), ignored))
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  return names;
}

// A name without a folder and an ending is an installed topology's.
absl::StatusOr<std::string> FileOf(const std::string& topology) {
  if (absl::StrContains(topology, '/') || absl::StrContains(topology, '.')) return topology;
  const std::set<std::string> names = InstalledNames();
  if (names.contains(topology)) return absl::StrCat(InstalledFolder(), "/", topology, ".json");
  NearestName nearest(topology);
  for (const std::string& name : names) nearest.Offer(name);
  return InvalidArgument("no topology ", topology, nearest.Hint(),
                         "; --list-topologies names those that are installed");
}

absl::StatusOr<Topology> LoadTopology(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string path, FileOf(name));
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  const SourceFile file(path, std::move(text));
  auto topology = ReadTopology(file);
  if (topology.ok()) return topology;
  // Places of the status are the topology's, not the module's, to which its caller would point.
  const LineColumn at = file.Locate(PlaceOf(topology.status()).offset);
  return InvalidArgument(path, ":", at.line, ":", at.column, ": ", topology.status().message());
}

}  // namespace

absl::StatusOr<std::string> TopologyList() {
  std::string out;
  for (const std::string& name : InstalledNames()) {
    ASSIGN_OR_RETURN(const Topology topology, LoadTopology(name));
    absl::StrAppend(&out, name, "\t", topology.DeviceCount(), " x ", topology.device.name, "\t",
                    topology.source, "\n");
  }
  return out;
}

absl::StatusOr<std::string> SimulationText(const Module& module, const SimulateFlags& flags) {
  ASSIGN_OR_RETURN(const Topology given, LoadTopology(flags.topology));
  Topology topology = given;
  for (const std::string& change : flags.what_if) RETURN_IF_ERROR(ChangeTopology(topology, change));
  const std::unique_ptr<Module> flat = module.Clone();
  ScheduleKeeper schedules(*flat);
  RETURN_IF_ERROR(RunPasses(*flat, "while-loop-trip-count-annotator,flatten-call-graph{running}"));
  schedules.Restore();  // passes that change anything drop them: here only configurations change
  SimulateOptions options;
  options.unknown_trips = flags.trips;
  ASSIGN_OR_RETURN(const StepPrediction step, Simulate(*flat, topology, options));
  StepPrediction before;
  if (!flags.what_if.empty()) {
    ASSIGN_OR_RETURN(before, Simulate(*flat, given, options));
  }
  // What cannot be planned (dynamic calls) takes time all the same.
  const auto memory = MemoryOf(*flat, step);
  SimulationReport report;
  report.module = module.name();
  report.topology = &topology;
  report.step = &step;
  report.memory = memory.ok() ? &*memory : nullptr;
  report.changes = flags.what_if;
  report.before = flags.what_if.empty() ? nullptr : &before;
  if (flags.format == "json") return SimulationJson(report);
  if (flags.format == "trace") return SimulationTrace(report);
  if (flags.format == "html") return SimulationHtml(report);
  return SimulationTable(report, static_cast<int>(flags.rows));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
