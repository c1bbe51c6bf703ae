// Modules as messages.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/encoding_internal.h"
#include "proto/instructions_internal.h"
#include "proto/modules_internal.h"
#include "proto/rest_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_internal.h"
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

// Where the fields of numbers from this one on start, which stand in order.
size_t OffsetAfter(absl::string_view message, int number) {
  WireReader reader(message);
  WireField field;
  while (!reader.AtEnd()) {
    const size_t start = reader.offset();
    if (!reader.Next(field) || field.number >= number) return start;
  }
  return message.size();
}

// The bytes of messages; equal shapes and metadata, which most instructions share, are made once.
class ByteWriter {
 public:
  ByteWriter(const ProtoIds& ids, const StackFrameNumbering& frames, const ProtoRest& rest)
      : ids_(ids), frames_(frames), rest_(rest) {}

  absl::Status AppendComputation(const Computation& computation, bool fused, std::string& out);

 private:
  using Fields = pb::HloInstructionProto;

  absl::Status AppendInstruction(const Instruction& instruction, std::string& out);
  void AppendProgramShape(const Computation& computation, std::string& out);
  const std::string& ShapeBytes(const Shape& shape);
  const std::string& MetadataBytes(const Instruction& instruction);

  const ProtoIds& ids_;
  const StackFrameNumbering& frames_;
  const ProtoRest& rest_;
  pb::HloInstructionProto others_;  // one for all, so that its parts stay allocated
  std::string instruction_, part_;
  absl::flat_hash_map<const void*, std::string> known_;  // by the address of the shared value
};

const std::string& ByteWriter::ShapeBytes(const Shape& shape) {
  std::string& bytes = known_[&shape];
  if (!bytes.empty()) return bytes;
  pb::ShapeProto message;
  Write(shape, &message);
  AppendBytes(message, bytes);
  return bytes;
}

const std::string& ByteWriter::MetadataBytes(const Instruction& instruction) {
  const auto [found, is_new] = known_.try_emplace(&instruction.metadata());
  if (!is_new) return found->second;
  pb::OpMetadata message;
  WriteMetadata(instruction, frames_, &message);
  AppendBytes(message, found->second);
  return found->second;
}

absl::Status ByteWriter::AppendInstruction(const Instruction& instruction, std::string& out) {
  others_.Clear();
  const std::string& rest = rest_.Of(instruction);
  if (!rest.empty()) {
    RETURN_IF_ERROR(WriteInstruction(instruction, ids_, frames_, &others_));
    AddRest(rest, &others_);
    AppendBytes(others_, out);
    return absl::OkStatus();
  }
  AppendField(out, Fields::kNameFieldNumber, AsAbsl(instruction.name()));
  AppendField(out, Fields::kOpcodeFieldNumber, Text(instruction.opcode()));
  AppendField(out, Fields::kShapeFieldNumber, ShapeBytes(instruction.shape()));
  AppendField(out, Fields::kMetadataFieldNumber, MetadataBytes(instruction));
  RETURN_IF_ERROR(WriteOthers(instruction, &others_));
  part_.clear();
  AppendBytes(others_, part_);
  const size_t before = OffsetAfter(part_, Fields::kIdFieldNumber);
  out.append(part_, 0, before);
  AppendEdges(instruction, ids_, out);
  out.append(part_, before, part_.size() - before);
  return absl::OkStatus();
}

void ByteWriter::AppendProgramShape(const Computation& computation, std::string& out) {
  using Parts = pb::ProgramShapeProto;
  part_.clear();
  for (const Instruction* parameter : computation.parameters())
    if (parameter != nullptr)  // only before verification
      AppendField(part_, Parts::kParametersFieldNumber, ShapeBytes(parameter->shape()));
  AppendField(part_, Parts::kResultFieldNumber, ShapeBytes(computation.root()->shape()));
  for (const Instruction* parameter : computation.parameters())
    if (parameter != nullptr)
      AppendField(part_, Parts::kParameterNamesFieldNumber, AsAbsl(parameter->name()));
  AppendField(out, pb::HloComputationProto::kProgramShapeFieldNumber, part_);
}

absl::Status ByteWriter::AppendComputation(const Computation& computation, bool fused,
                                           std::string& out) {
  using Parts = pb::HloComputationProto;
  AppendField(out, Parts::kNameFieldNumber, AsAbsl(computation.name()));
  for (const Instruction* i : computation.PostOrder()) {
    instruction_.clear();
    RETURN_IF_ERROR(AppendInstruction(*i, instruction_));
    AppendField(out, Parts::kInstructionsFieldNumber, instruction_);
    RETURN_IF_ERROR(CheckWrittenSize(out.size()));
  }
  Parts tail;
  tail.set_id(ids_.Of(computation));
  tail.set_root_id(ids_.Of(*computation.root()));
  tail.set_is_fusion_computation(fused);
  if (computation.execution_thread() != "main")
    tail.set_execution_thread(computation.execution_thread());
  const std::string& rest = rest_.Of(computation);
  if (rest.empty()) {
    AppendProgramShape(computation, out);
  } else {
    WriteProgramShape(computation, tail.mutable_program_shape());
    AddRest(rest, &tail);
  }
  AppendBytes(tail, out);
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

absl::StatusOr<std::string> ModuleBytes(const Module& module, const ProtoRest& rest) {
  using Parts = pb::HloModuleProto;
  if (module.entry() == nullptr) return InvalidArgument("the module has no entry computation");
  const ProtoIds ids(module, rest);
  const Computations computations = CalleesFirst(module);
  const auto fused = Fused(module);
  StackFrameNumbering frames(module.header().stack_frames);
  UseFrames(module, frames);
  Parts header;
  RETURN_IF_ERROR(WriteHeader(module, &header));
  header.set_entry_computation_id(ids.Of(*module.entry()));
  if (!frames.tables().empty())
    WriteStackFrames(frames.tables(), header.mutable_stack_frame_index());
  if (module.header().is_scheduled) WriteSchedule(computations, ids, header.mutable_schedule());
  AddRest(rest.of_module(), &header);
  SettleCounts(module.header(), &header);
  std::string out, part;
  AppendBytes(header, part);
  // Computations have their place among the header's fields by their number.
  const size_t before = OffsetAfter(part, Parts::kComputationsFieldNumber);
  out.assign(part, 0, before);
  const std::string after = part.substr(before);
  ByteWriter writer(ids, frames, rest);
  for (const Computation* computation : computations) {
    part.clear();
    RETURN_IF_ERROR(writer.AppendComputation(*computation, fused.contains(computation), part));
    AppendField(out, Parts::kComputationsFieldNumber, part);
    RETURN_IF_ERROR(CheckWrittenSize(out.size()));
  }
  out += after;
  RETURN_IF_ERROR(CheckWrittenSize(out.size()));
  return out;
}

absl::Status WriteModule(const Module& module, const ProtoRest& rest, pb::HloModuleProto* out) {
  ASSIGN_OR_RETURN(const std::string bytes, ModuleBytes(module, rest));
  return DecodeOwn(bytes, out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
