// Writes instructions field by field, in the order of the fields' numbers.
//
// Computations make up nearly all of a module, so their bytes are written directly, in the order
// of field numbers, as libprotobuf's serializer would write them, and no message object is made
// for an instruction. What is rare (payloads, profile types, text beyond ASCII) still goes through
// libprotobuf. Shapes and metadata repeat: their bytes are kept by value and written again
// (KnownBytes).
#include "proto/computation_writer_internal.h"

#include "proto/encoding_internal.h"
#include "proto/modules_internal.h"
#include "proto/wire_values_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Parts = pb::HloComputationProto;
using InstructionFields = pb::HloInstructionProto;

// What messages are long, as a first guess.
constexpr size_t kUsualInstruction = 200;

// Room for the fields of a message that are numbers, and for tags and lengths of the others.
constexpr size_t kManyFields = 16 * WireWriter::kMaxAround;

bool IsPlain(const OpMetadata& metadata) {
  return metadata.profile_type.empty() && metadata.metadata_payload.empty() &&
         IsAscii(metadata.op_type) && IsAscii(metadata.op_name) && IsAscii(metadata.source_file) &&
         IsAscii(metadata.deduplicated_name) && IsAscii(metadata.scheduling_name);
}

size_t TextBytes(const OpMetadata& metadata) {
  return metadata.op_type.size() + metadata.op_name.size() + metadata.source_file.size() +
         metadata.deduplicated_name.size() + metadata.scheduling_name.size();
}

void AppendText(int number, const SharedText& text, WireWriter& out) {
  if (!text.empty()) out.Bytes(number, text);
}

void AppendBytes(int number, absl::string_view bytes, WireWriter& out) {
  out.Reserve(bytes.size() + WireWriter::kMaxAround);
  out.Bytes(number, bytes);
}

// Profile types, payloads and texts beyond ASCII are libprotobuf's.
void AppendRareMetadata(const Instruction& instruction, const StackFrameNumbering& frames,
                        WireWriter& out) {
  pb::OpMetadata message;
  WriteMetadata(instruction, frames, &message);
  std::string bytes;
  hlokit::AppendBytes(message, bytes);
  out.Reserve(bytes.size());
  out.Raw(bytes);
}

}  // namespace

absl::Status ComputationWriter::Append(const Computation& computation, bool fused,
                                       WireWriter& out) {
  const auto expected = static_cast<size_t>(computation.instruction_count()) * kUsualInstruction;
  out.Reserve(computation.name().size() + 2 * WireWriter::kMaxAround);
  const WireWriter::Message message =
      out.Open(pb::HloModuleProto::kComputationsFieldNumber, expected);
  out.Bytes(Parts::kNameFieldNumber, AsAbsl(computation.name()));
  for (const Instruction* i : computation.PostOrder()) {
    RETURN_IF_ERROR(AppendInstruction(*i, out));
    RETURN_IF_ERROR(CheckWrittenSize(out.size()));
  }
  const std::string& unknown = unknown_.Of(computation);
  if (unknown.empty()) {
    AppendTail(computation, fused, out);
  } else {
    AppendTailWithUnknown(computation, fused, unknown, out);
  }
  out.Reserve(WireWriter::kMaxAround);
  out.Close(message);
  return absl::OkStatus();
}

void ComputationWriter::AppendTail(const Computation& computation, bool fused, WireWriter& out) {
  AppendProgramShape(computation, out);
  const std::string& thread = computation.execution_thread();
  out.Reserve(thread.size() + kManyFields);
  out.Number(Parts::kIdFieldNumber, ids_.Of(computation));
  out.Number(Parts::kRootIdFieldNumber, ids_.Of(*computation.root()));
  out.Number(Parts::kIsFusionComputationFieldNumber, fused ? 1 : 0);
  if (thread != "main" && !thread.empty())
    out.Bytes(Parts::kExecutionThreadFieldNumber, AsAbsl(thread));
}

void ComputationWriter::AppendTailWithUnknown(const Computation& computation, bool fused,
                                              const std::string& unknown, WireWriter& out) {
  Parts tail;
  tail.set_id(ids_.Of(computation));
  tail.set_root_id(ids_.Of(*computation.root()));
  tail.set_is_fusion_computation(fused);
  if (computation.execution_thread() != "main")
    tail.set_execution_thread(computation.execution_thread());
  WriteProgramShape(computation, tail.mutable_program_shape());
  RestoreUnknownFields(unknown, &tail);
  std::string bytes;
  hlokit::AppendBytes(tail, bytes);
  out.Reserve(bytes.size());
  out.Raw(bytes);
}

// Of the parameters that there are: all, after verification.
void ComputationWriter::AppendProgramShape(const Computation& computation, WireWriter& out) {
  using Program = pb::ProgramShapeProto;
  out.Reserve(WireWriter::kMaxAround);
  const WireWriter::Message message = out.Open(Parts::kProgramShapeFieldNumber, kUsualInstruction);
  for (const Instruction* parameter : computation.parameters())
    if (parameter != nullptr)
      AppendBytes(Program::kParametersFieldNumber, ShapeField(parameter->shape()).content, out);
  AppendBytes(Program::kResultFieldNumber, ShapeField(computation.root()->shape()).content, out);
  for (const Instruction* parameter : computation.parameters())
    if (parameter != nullptr)
      AppendBytes(Program::kParameterNamesFieldNumber, AsAbsl(parameter->name()), out);
  out.Reserve(WireWriter::kMaxAround);
  out.Close(message);
}

absl::Status ComputationWriter::AppendInstruction(const Instruction& instruction, WireWriter& out) {
  const std::string& unknown = unknown_.Of(instruction);
  if (!unknown.empty()) return AppendWithUnknown(instruction, unknown, out);
  const absl::string_view name = AsAbsl(instruction.name());
  const absl::string_view shape = ShapeField(instruction.shape()).whole;
  const absl::string_view metadata = MetadataField(instruction);
  ASSIGN_OR_RETURN(const KnownOthers::Pieces others, others_.Of(instruction));
  out.Reserve(name.size() + shape.size() + metadata.size() + others.size() +
              MostOfEdges(instruction) + kManyFields);
  const WireWriter::Message message = out.Open(Parts::kInstructionsFieldNumber, kUsualInstruction);
  out.Bytes(InstructionFields::kNameFieldNumber, name);
  out.Bytes(InstructionFields::kOpcodeFieldNumber, Text(instruction.opcode()));
  out.Raw(shape);
  out.Raw(metadata);
  out.Raw(others.before_channel);
  out.Number(InstructionFields::kChannelIdFieldNumber, others.channel_id);
  out.Raw(others.before_id);
  AppendEdges(instruction, ids_, out);
  out.Raw(others.after);
  out.Close(message);
  return absl::OkStatus();
}

void ComputationWriter::AppendMetadata(const Instruction& instruction, WireWriter& out) {
  using Message = pb::OpMetadata;
  const OpMetadata& metadata = instruction.metadata();
  if (!IsPlain(metadata)) return AppendRareMetadata(instruction, frames_, out);
  out.Reserve(TextBytes(metadata) + kManyFields);
  const auto number = [&](int field, int64_t value) {
    out.Number(field, static_cast<int32_t>(value));
  };
  AppendText(Message::kOpTypeFieldNumber, metadata.op_type, out);
  AppendText(Message::kOpNameFieldNumber, metadata.op_name, out);
  AppendText(Message::kSourceFileFieldNumber, metadata.source_file, out);
  number(Message::kSourceLineFieldNumber, metadata.source_line);
  out.Number(Message::kSizeOfGeneratedCodeInBytesFieldNumber,
             metadata.size_of_generated_code_in_bytes);
  out.Number(Message::kSizeOfMemoryWorkingSetInBytesFieldNumber,
             metadata.size_of_memory_working_set_in_bytes);
  AppendText(Message::kDeduplicatedNameFieldNumber, metadata.deduplicated_name, out);
  number(Message::kStackFrameIdFieldNumber, FrameOf(instruction, frames_));
  AppendText(Message::kSchedulingNameFieldNumber, metadata.scheduling_name, out);
  number(Message::kSourceEndLineFieldNumber, metadata.source_end_line);
  number(Message::kSourceColumnFieldNumber, metadata.source_column);
  number(Message::kSourceEndColumnFieldNumber, metadata.source_end_column);
}

absl::Status ComputationWriter::AppendWithUnknown(const Instruction& instruction,
                                                  const std::string& unknown, WireWriter& out) {
  InstructionFields message;
  RETURN_IF_ERROR(WriteInstruction(instruction, ids_, frames_, &message));
  RestoreUnknownFields(unknown, &message);
  std::string bytes;
  hlokit::AppendBytes(message, bytes);
  AppendBytes(Parts::kInstructionsFieldNumber, bytes, out);
  return absl::OkStatus();
}

KnownBytes::Field ComputationWriter::ShapeField(const Shape& shape) {
  return shapes_.Of(&shape, [&](WireWriter& out) { AppendToWire(shape, out); });
}

absl::string_view ComputationWriter::MetadataField(const Instruction& instruction) {
  return metadata_
      .Of(&instruction.metadata(), [&](WireWriter& out) { AppendMetadata(instruction, out); })
      .whole;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
