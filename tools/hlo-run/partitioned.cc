// Partitioning before a run. The passes are XLA's before its optimizers: Shardy's annotations are
// imported where there are any, shardings propagate, and spmd-partitioning writes the program of
// one device. What a device gets and gives follows from the shardings after propagation. Without
// that, every device would compute whole arrays, and only arguments and results would be cut.
//   f32[8,8] dot of rows {0..1} by device: 4 devices, each a dot of f32[2,8]
#include "tools/hlo-run/partitioned.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "ir/frontend_attributes.h"
#include "ops/collective/device_groups.h"
#include "ops/collective/shards.h"
#include "passes/manager.h"
#include "support/status.h"
#include "tools/hlo-run/probes.h"

namespace hlokit {
namespace {

bool Cuts(const Sharding& sharding) {
  if (sharding.kind == Sharding::Kind::kTuple)
    return std::any_of(sharding.elements.begin(), sharding.elements.end(), Cuts);
  return sharding.kind == Sharding::Kind::kTiled || sharding.kind == Sharding::Kind::kText;
}

bool StatesCut(const Instruction& i) {
  if (i.sharding() != nullptr && Cuts(*i.sharding())) return true;
  return absl::c_any_of(i.extras().frontend_attributes, [](const auto& attribute) {
    return attribute.first == "xla.sdy.sharding";
  });
}

bool Communicates(const Instruction& i) {
  if (HasTrait(i.opcode(), kAsyncStart))
    return i.opcode() != Opcode::kCopyStart && i.opcode() != Opcode::kAsyncStart;
  return HasTrait(i.opcode(), kCollective) || i.opcode() == Opcode::kPartitionId;
}

bool HasShardy(const Module& module) {
  if (!module.header().frontend_attributes.empty() && DevicesNamed(module) > 1) return true;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions())
      for (const auto& [name, value] : i->extras().frontend_attributes)
        if (absl::StartsWith(name, "xla.sdy.")) return true;
  return false;
}

}  // namespace

bool IsUnpartitioned(const Module& module) {
  if (module.entry() == nullptr || absl::EndsWith(module.entry()->name(), "_spmd")) return false;
  if (HasManualRegions(module)) return true;
  if (module.header().num_partitions < 2) return false;
  bool cuts = false;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions()) {
      if (Communicates(*i)) return false;
      cuts |= StatesCut(*i);
    }
  return cuts;
}

absl::StatusOr<PartitionedRun> PartitionForRun(const Module& module, const RunOptions& o,
                                               std::string& why) {
  PartitionedRun run;
  if (o.partition == "no") return run;
  const bool looks_inside = WantsProbes(o) || o.sanitize || !o.kernels.empty() || o.donate;
  if (looks_inside || !o.run_passes || absl::StrContains(o.passes, "spmd-partitioning")) {
    if (o.partition == "yes")
      return InvalidArgument("--partition=yes with a flag that looks into the program as it is");
    return run;
  }
  std::unique_ptr<Module> copy = module.Clone();
  const auto partition = [&]() -> absl::Status {
    RETURN_IF_ERROR(RunPasses(*copy, HasShardy(*copy) ? "shardy-xla" : "sharding-propagation", {}));
    ASSIGN_OR_RETURN(run.cuts, ShardedEntry::Of(*copy, copy->header().num_partitions));
    run.whole = copy->entry()->root()->shape();
    return RunPasses(*copy, "spmd-partitioning,dce", {});
  };
  if (const absl::Status status = partition(); !status.ok()) {
    if (o.partition == "yes" || !absl::IsUnimplemented(status)) return status;
    why = std::string(status.message());
    return PartitionedRun();
  }
  run.module = std::move(copy);
  return run;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
