// What clients tell of computations: shapes, statistics, snapshots.
#include "analysis/instruction_cost.h"
#include "client/client.h"
#include "proto/proto_file.h"
#include "support/status.h"

namespace hlokit {
absl::StatusOr<ProgramShape> Client::GetComputationShape(const XlaComputation& computation) {
  return computation.GetProgramShape();
}

absl::StatusOr<ComputationStats> Client::GetComputationStats(const XlaComputation& computation) {
  if (computation.IsNull()) return InvalidArgument("there is no computation");
  return StatsOf(computation.module());
}

ComputationStats Client::StatsOf(const Module& module) {
  ComputationStats stats;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) {
      ++stats.instruction_count;
      const InstructionCost cost = CostOf(*i);
      stats.flop_count += cost.flops;
      stats.bytes_accessed += cost.bytes;
      if (HasTrait(i->opcode(), kTranscendental))
        stats.transcendental_count += static_cast<double>(i->shape().ElementCount());
    }
  return stats;
}

absl::StatusOr<std::string> Client::SnapshotExecution(
    const XlaComputation& computation, absl::Span<const GlobalData* const> arguments) {
  ASSIGN_OR_RETURN(const Literal result, ExecuteAndTransfer(computation, arguments));
  std::vector<const Literal*> literals;
  for (const GlobalData* argument : arguments) literals.push_back(&argument->literal());
  return WriteSnapshotProto(computation.module(), literals, &result, platform_,
                            ProtoEncoding::kBinary);
}

absl::StatusOr<Snapshot> Client::LoadSnapshot(absl::string_view bytes) {
  ASSIGN_OR_RETURN(ModuleFile file, ReadModuleFile(bytes, ProtoEncoding::kBinary));
  if (!file.is_snapshot) return InvalidArgument("the file holds a module, but no snapshot");
  Snapshot snapshot;
  snapshot.computation = XlaComputation(std::move(file.module));
  if (!file.arguments.empty()) snapshot.arguments = std::move(file.arguments.front());
  snapshot.result = std::move(file.result);
  return snapshot;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
