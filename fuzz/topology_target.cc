// Descriptions of machines, changes of their numbers, and what a module takes on them.
//
// Lines `// what-if: links.nvlink.bandwidth=2x` come first, then the topology's JSON, then from a
// line `// module` on the module that runs; without it one of two products and a collective does.
// What is read must give a time that is no NaN, and reports whose JSON is JSON.
// Limits: at most 50 instructions, so that thousands of devices still take no second.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "passes/manager.h"
#include "simulate/memory_profile.h"
#include "simulate/report.h"
#include "simulate/timeline.h"
#include "simulate/topology.h"
#include "support/diagnostics.h"
#include "support/json_value.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

constexpr absl::string_view kWhatIf = "// what-if:";
constexpr absl::string_view kModuleMark = "\n// module\n";
constexpr absl::string_view kModule = R"(HloModule m, num_partitions=8
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  p = bf16[64,128] parameter(0)
  w = bf16[128,256] parameter(1)
  d = f32[64,256] dot(p, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[64,256] all-reduce-start(d), replica_groups=[2,4]<=[8], channel_id=1, use_global_device_ids=true, to_apply=sum
  t = f32[64,256] tanh(d)
  e = f32[64,256] all-reduce-done(s)
  ROOT r = f32[64,256] add(e, t)
})";

// The module, ready to be simulated; null where it is not valid or too large.
std::unique_ptr<Module> PreparedModule(absl::string_view text) {
  std::unique_ptr<Module> module = ReadModule(text, false);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return nullptr;
  int64_t instructions = 0;
  for (const Computation* computation : module->Computations())
    instructions += computation->instruction_count();
  if (instructions > 50) return nullptr;
  if (!RunPasses(*module, "while-loop-trip-count-annotator,flatten-call-graph{running}").ok())
    return nullptr;
  return module;
}

void CheckReports(const Module& module, const Topology& topology, const StepPrediction& step) {
  const auto memory = MemoryOf(module, step);
  SimulationReport report;
  report.module = module.name();
  report.topology = &topology;
  report.step = &step;
  report.memory = memory.ok() ? &*memory : nullptr;
  for (const std::string& json : {SimulationJson(report), SimulationTrace(report)}) {
    const auto value = ParseJson(json);
    CHECK(value.ok()) << value.status().ToString() << "\n" << json;
  }
  CHECK(!SimulationTable(report).empty());
  CHECK(!SimulationHtml(report).empty());
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  std::vector<std::string> changes;
  while (absl::StartsWith(input, kWhatIf)) {
    const size_t line = std::min(input.find('\n'), input.size());
    changes.emplace_back(
        absl::StripAsciiWhitespace(input.substr(kWhatIf.size(), line - kWhatIf.size())));
    input.remove_prefix(std::min(line + 1, input.size()));
  }
  const size_t mark = input.find(kModuleMark);
  const std::string json(input.substr(0, mark));
  const absl::string_view text =
      mark == absl::string_view::npos ? kModule : input.substr(mark + kModuleMark.size());
  auto topology = ReadTopology(SourceFile("fuzz.json", json));
  if (!topology.ok()) {
    CHECK(!topology.status().message().empty());
    return false;
  }
  bool all = true;
  for (const std::string& change : changes) all &= ChangeTopology(*topology, change).ok();
  CHECK(topology->DeviceCount() >= 1 && topology->DeviceCount() <= kMaxDevices);
  const std::unique_ptr<Module> module = PreparedModule(text);
  if (module == nullptr) return false;
  const auto step = Simulate(*module, *topology, SimulateOptions());
  if (!step.ok()) {
    CHECK(!step.status().message().empty());
    return false;
  }
  CHECK(step->seconds >= 0) << step->seconds;
  CheckReports(*module, *topology, *step);
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
