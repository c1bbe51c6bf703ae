// Modules as messages.
//
// One walk over all instructions (Survey) notes what writing needs to know beforehand: which
// computations fusions call, who calls whom, which stack frames are used and in which order. Then
// computations are written callees first, each appended to one string, whose size is guessed from
// the number of instructions so that it seldom grows. All other fields are a small message that
// libprotobuf writes; its bytes are cut at the number of the computations' field, so that the whole
// stands in the order of numbers.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "proto/computation_writer_internal.h"
#include "proto/encoding_internal.h"
#include "proto/instructions_internal.h"
#include "proto/modules_internal.h"
#include "proto/shapes_internal.h"
#include "proto/unknown_fields_internal.h"
#include "proto/wire_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Computations = std::vector<Computation*>;

// Bytes, as a first guess.
constexpr size_t kUsualBytes = 120;

// What one walk over all instructions finds for the writing of each: a module that does not fit the
// caches is walked as seldom as can be.
class Survey {
 public:
  explicit Survey(const Module& module)
      : fused_(module.computation_id_bound(), false),
        callees_(module.computation_id_bound()),
        has_frames_(!module.header().stack_frames.empty()),
        frames_(module.header().stack_frames) {}

  // In the order in which instructions were made, which is that in which XLA numbers frames when it
  // reads a module.
  void Note(const Instruction& instruction) {
    if (has_frames_ && instruction.metadata().stack_frame_id != 0)
      frames_.Use(instruction.metadata().stack_frame_id);
    if (instruction.called().empty()) return;
    Computations& callees = callees_[instruction.parent()->id()];
    callees.insert(callees.end(), instruction.called().begin(), instruction.called().end());
    if (instruction.opcode() != Opcode::kFusion) return;
    for (const Computation* called : instruction.called()) fused_[called->id()] = true;
  }

  const StackFrameNumbering& frames() const { return frames_; }
  // Whether a fusion calls it.
  bool IsFused(const Computation& computation) const { return fused_[computation.id()]; }
  // Callees before callers, else in the order in which they were added.
  Computations CalleesFirst(const Module& module) const;

 private:
  std::vector<bool> fused_;  // by the ids of computations
  std::vector<Computations> callees_;
  bool has_frames_;
  StackFrameNumbering frames_;
};

Computations Survey::CalleesFirst(const Module& module) const {
  std::vector<bool> seen(callees_.size(), false);
  std::vector<std::pair<Computation*, size_t>> stack;  // with the number of callees visited
  Computations order;
  auto open = [&](Computation* computation) {
    if (seen[computation->id()]) return;
    seen[computation->id()] = true;
    stack.emplace_back(computation, 0);
  };
  for (Computation* root : module.Computations()) {
    open(root);
    while (!stack.empty()) {
      auto& [computation, visited] = stack.back();
      const Computations& callees = callees_[computation->id()];
      if (visited == callees.size()) {
        order.push_back(computation);
        stack.pop_back();
      } else {
        open(callees[visited++]);
      }
    }
  }
  return order;
}

// XLA reads a schedule only where it orders every computation but those of fusions: one without an
// order of its own, such as a reduction's, gets operands before users.
void WriteSchedule(const Computations& computations, const ProtoIds& ids,
                   pb::HloScheduleProto* out) {
  absl::flat_hash_set<const Computation*> fused;
  for (const Computation* computation : computations)
    for (const Instruction* i : computation->Instructions())
      if (i->opcode() == Opcode::kFusion) fused.insert(i->called()[0]);
  for (const Computation* computation : computations) {
    if (!computation->has_schedule() && fused.contains(computation)) continue;
    auto* sequence = (*out->mutable_sequences())[ids.Of(*computation)].mutable_instruction_ids();
    for (const Instruction* i : computation->ScheduleOrPostOrder()) sequence->Add(ids.Of(*i));
  }
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

absl::StatusOr<std::string> ModuleBytes(const Module& module, const UnknownFields& unknown) {
  using Parts = pb::HloModuleProto;
  if (module.entry() == nullptr) return InvalidArgument("the module has no entry computation");
  Survey survey(module);
  const ProtoIds ids(module, unknown, [&](const Instruction& i) { survey.Note(i); });
  const Computations computations = survey.CalleesFirst(module);
  Parts header;
  RETURN_IF_ERROR(WriteHeader(module, &header));
  header.set_entry_computation_id(ids.Of(*module.entry()));
  if (!survey.frames().tables().empty())
    WriteStackFrames(survey.frames().tables(), header.mutable_stack_frame_index());
  if (module.header().is_scheduled) WriteSchedule(computations, ids, header.mutable_schedule());
  const bool has_unknown = !unknown.of_module().empty();
  if (has_unknown) RETURN_IF_ERROR(WriteHostShape(module, &header));
  RestoreUnknownFields(unknown.of_module(), &header);
  SettleCounts(module.header(), &header);
  std::string fields;
  AppendBytes(header, fields);
  // Computations have their place among the header's fields by their number.
  const absl::string_view all = fields;
  const size_t before = OffsetFrom(all, Parts::kComputationsFieldNumber);
  WireWriter out;
  out.Reserve(fields.size() + kUsualBytes * static_cast<size_t>(module.id_bound()));
  out.Raw(all.substr(0, before));
  ComputationWriter writer(ids, survey.frames(), unknown);
  for (const Computation* computation : computations)
    RETURN_IF_ERROR(writer.Append(*computation, survey.IsFused(*computation), out));
  if (!has_unknown) AppendHostShape(module, out);
  out.Reserve(fields.size());
  out.Raw(all.substr(before));
  RETURN_IF_ERROR(CheckWrittenSize(out.size()));
  return out.Take();
}

absl::Status WriteModule(const Module& module, const UnknownFields& unknown,
                         pb::HloModuleProto* out) {
  ASSIGN_OR_RETURN(const std::string bytes, ModuleBytes(module, unknown));
  return DecodeOwn(bytes, out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
