// The table of stages.
//
// A stage is what modules look like at one place of a compiler: as frontends write them, after
// layout assignment, after fusion, after scheduling, after partitioning. A row has its name, what
// it stands for, how likely a step is one of the stage's own recipes and how often each is tried,
// those recipes, how many devices the module runs on, and the rewrites that follow once the module
// has grown (layouts permuted, parts outlined into fusions, schedules chosen at random).
// Every stage's modules are valid and keep their values, so that any two ways to run one can be
// compared.
#include "generator/stages_internal.h"

#include "generator/scope_internal.h"
#include "ops/infer/op_table.h"

namespace hlokit {
namespace {

using Devices = StageInfo::Devices;

}  // namespace

const std::vector<StageInfo>& Stages() {
  static const std::vector<StageInfo>& stages = *new std::vector<StageInfo>{
      {"raw", "as frontends write modules", 0, 0, {}, Devices::kOne, {}},
      {"layouts",
       "after layout assignment: any order, bitcasts between orders, copies, donated arguments",
       0.5,
       4,
       {MovementChain, FuseValue},
       Devices::kOne,
       {InsertCopies, PermuteLayouts, StateEntryLayout, DonateParameters}},
      {"calls",
       "calls, loops and branches that take and give other layouts than their bodies",
       0.3,
       4,
       {CallValue, Loop, Choose},
       Devices::kOne,
       {MixLayouts, StateEntryLayout}},
      {"fused",
       "after fusion: nested and multi-output fusions of all kinds",
       0.03,
       5,
       {MovementChain, FuseValue},
       Devices::kOne,
       {OutlineFusions, DonateParameters}},
      {"scheduled",
       "after scheduling: fusions in any layouts, asynchronous pairs apart, control edges",
       0.3,
       3,
       {MovementChain, FuseValue},
       Devices::kOne,
       {InsertCopies, OutlineFusions, PermuteLayouts, SplitIntoAsync, ScheduleAtRandom,
        DonateParameters}},
      {"sharded",
       "before partitioning: arrays with shardings over several partitions",
       0,
       0,
       {},
       Devices::kUnknown,
       {ShardAtRandom}},
      {"spmd",
       "after partitioning: several replicas and partitions that meet at collectives",
       0.03,
       6,
       {AllReduceValues, AllGatherValues, ReduceScatterValues, AllToAllValues, PermuteDevices,
        BroadcastToDevices, MovementChain},
       Devices::kSeveral,
       {OutlineFusions, SplitIntoAsync}},
      {"gpu",
       "a GPU's optimized module: cuBLAS calls, configured fusions, command buffers, scheduled",
       0.2,
       4,
       {MovementChain, FuseValue, MatrixProduct, BitcastConvertValue},
       Devices::kOne,
       {CallLibraries, ReadBitsInPlace, InsertCopies, OutlineFusions, ConfigureFusions,
        OutlineCommandBuffers, PermuteLayouts, SplitIntoAsync, ScheduleAtRandom, DonateParameters}},
      {"tpu",
       "a TPU's optimized module: tiled layouts, memory space S(1), asynchronous copies, scheduled",
       0.1,
       4,
       {MovementChain, FuseValue, ConvolutionValues, BitcastConvertValue},
       Devices::kOne,
       {ReadBitsInPlace, InsertCopies, OutlineFusions, TileLayouts, SplitIntoAsync,
        ScheduleAtRandom, StateEntryLayout, DonateParameters}},
  };
  return stages;
}

const StageInfo* FindStage(absl::string_view name) {
  for (const StageInfo& stage : Stages())
    if (stage.name == name) return &stage;
  return nullptr;
}

namespace {

bool RunsComputations(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kWhile || opcode == Opcode::kConditional ||
         opcode == Opcode::kAsyncStart;
}

}  // namespace

std::vector<Computation*> ExecutedComputations(const Module& module) {
  std::vector<Computation*> running = {module.entry()};
  std::vector<bool> seen(module.computation_id_bound(), false);
  seen[module.entry()->id()] = true;
  for (size_t next = 0; next < running.size(); ++next)
    running[next]->ForEach([&](const Instruction* i) {
      if (!RunsComputations(i->opcode())) return;
      for (Computation* called : i->called())
        if (!seen[called->id()]) {
          seen[called->id()] = true;
          running.push_back(called);
        }
    });
  return running;
}

bool MayBeFused(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kParameter:
    case Opcode::kCustomCall:
    case Opcode::kDomain:
    case Opcode::kAddDependency:
    case Opcode::kOptimizationBarrier:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kGetTupleElement:
      return false;
    default:
      break;
  }
  constexpr Trait kUnfit[] = {kSideEffect, kCollective, kAsyncStart, kAsyncDone};
  for (const Trait trait : kUnfit)
    if (HasTrait(instruction.opcode(), trait)) return false;
  if (RunsComputations(instruction.opcode())) return false;
  if (!instruction.shape().IsArray() || instruction.HasSideEffect() ||
      !instruction.control_predecessors().empty() || !instruction.control_successors().empty())
    return false;
  for (const Instruction* operand : instruction.operands())
    if (!operand->shape().IsArray()) return false;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
