// Modules as messages.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/instructions_internal.h"
#include "proto/modules_internal.h"
#include "proto/rest_internal.h"
#include "proto/shapes_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Computations = std::vector<Computation*>;

// Callees before callers, else in the order in which they were added.
Computations CalleesFirst(const Module& module) {
  std::vector<bool> seen(module.computation_id_bound(), false);
  std::vector<std::pair<Computation*, std::vector<Computation*>>> stack;  // callees yet to visit
  Computations order;
  auto open = [&](Computation* computation) {
    if (seen[computation->id()]) return;
    seen[computation->id()] = true;
    Computations callees;
    for (const Instruction* i : computation->Instructions())
      callees.insert(callees.end(), i->called().begin(), i->called().end());
    std::reverse(callees.begin(), callees.end());
    stack.emplace_back(computation, std::move(callees));
  };
  for (Computation* root : module.Computations()) {
    open(root);
    while (!stack.empty()) {
      auto& [computation, callees] = stack.back();
      if (callees.empty()) {
        order.push_back(computation);
        stack.pop_back();
      } else {
        Computation* callee = callees.back();
        callees.pop_back();
        open(callee);
      }
    }
  }
  return order;
}

absl::flat_hash_set<const Computation*> Fused(const Module& module) {
  absl::flat_hash_set<const Computation*> fused;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions())
      if (i->opcode() == Opcode::kFusion) fused.insert(i->called().begin(), i->called().end());
  return fused;
}

absl::Status WriteComputation(const Computation& computation, const ProtoIds& ids,
                              const StackFrameNumbering& frames, const ProtoRest& rest,
                              pb::HloComputationProto* out) {
  out->set_name(computation.name());
  out->set_id(ids.Of(computation));
  out->set_root_id(ids.Of(*computation.root()));
  if (computation.execution_thread() != "main")
    out->set_execution_thread(computation.execution_thread());
  for (const Instruction* i : computation.PostOrder()) {
    RETURN_IF_ERROR(WriteInstruction(*i, ids, frames, out->add_instructions()));
    AddRest(rest.Of(*i), out->mutable_instructions(out->instructions_size() - 1));
  }
  WriteProgramShape(computation, out->mutable_program_shape());
  AddRest(rest.Of(computation), out);
  return absl::OkStatus();
}

void WriteSchedule(const Computations& computations, const ProtoIds& ids,
                   pb::HloScheduleProto* out) {
  for (const Computation* computation : computations) {
    if (!computation->has_schedule()) continue;
    auto* sequence = (*out->mutable_sequences())[ids.Of(*computation)].mutable_instruction_ids();
    for (const Instruction* i : computation->schedule()) sequence->Add(ids.Of(*i));
  }
}

// Numbers frames in the order in which instructions were made, as XLA does when it reads a module.
void UseFrames(const Module& module, StackFrameNumbering& frames) {
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions())
      if (i->metadata().stack_frame_id != 0) frames.Use(i->metadata().stack_frame_id);
}

// A device assignment says the numbers of replicas and partitions, while it is still right.
void SettleCounts(const ModuleHeader& header, pb::HloModuleProto* out) {
  if (!out->has_device_assignment()) return;
  const pb::DeviceAssignmentProto& devices = out->device_assignment();
  if (devices.replica_count() != header.replica_count ||
      devices.computation_count() != header.num_partitions)
    return out->clear_device_assignment();
  if (!out->has_hlokit()) return;
  out->mutable_hlokit()->clear_replica_count();
  out->mutable_hlokit()->clear_num_partitions();
  if (out->hlokit().ByteSizeLong() == 0) out->clear_hlokit();
}

}  // namespace

void WriteProgramShape(const Computation& computation, pb::ProgramShapeProto* out) {
  for (const Instruction* parameter : computation.parameters()) {
    if (parameter == nullptr) continue;  // only before verification
    Write(parameter->shape(), out->add_parameters());
    out->add_parameter_names(parameter->name());
  }
  Write(computation.root()->shape(), out->mutable_result());
}

absl::Status WriteModule(const Module& module, const ProtoRest& rest, pb::HloModuleProto* out) {
  if (module.entry() == nullptr) return InvalidArgument("the module has no entry computation");
  const ProtoIds ids(module, rest);
  const Computations computations = CalleesFirst(module);
  const auto fused = Fused(module);
  StackFrameNumbering frames(module.header().stack_frames);
  UseFrames(module, frames);
  RETURN_IF_ERROR(WriteHeader(module, out));
  out->set_entry_computation_id(ids.Of(*module.entry()));
  if (!frames.tables().empty()) WriteStackFrames(frames.tables(), out->mutable_stack_frame_index());
  for (const Computation* computation : computations) {
    pb::HloComputationProto* message = out->add_computations();
    message->set_is_fusion_computation(fused.contains(computation));
    RETURN_IF_ERROR(WriteComputation(*computation, ids, frames, rest, message));
  }
  if (module.header().is_scheduled) WriteSchedule(computations, ids, out->mutable_schedule());
  AddRest(rest.of_module(), out);
  SettleCounts(module.header(), out);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
