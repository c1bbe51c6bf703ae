// What this version does not know of a module's messages, kept to be written again.
//
// Where a part of a message was seen to hold something unknown, the part is written from the IR as
// this version would, and what the original has beyond that (UnknownFieldsOf) is kept beside the
// module, by instruction or computation. Nothing is kept, and nothing costs, for parts that hold no
// more than the IR does: nearly all.
#include "proto/module_reader_internal.h"

namespace hlokit {

absl::Status ModuleReader::KeepUnknownFields() {
  RETURN_IF_ERROR(KeepInstructionFields());
  for (const auto& [computation, bytes] : computations_with_unknown_) {
    constexpr int kInstructions[] = {ComputationMessage::kInstructionsFieldNumber};
    ComputationMessage message, written;
    RETURN_IF_ERROR(Parse(FieldsBeyond(bytes, kInstructions), message));
    WriteProgramShape(*computation, written.mutable_program_shape());
    constexpr int kOwn[] = {
        ComputationMessage::kNameFieldNumber, ComputationMessage::kIdFieldNumber,
        ComputationMessage::kRootIdFieldNumber, ComputationMessage::kIsFusionComputationFieldNumber,
        ComputationMessage::kExecutionThreadFieldNumber};
    unknown_.Keep(*computation, UnknownFieldsOf(message, written, kOwn));
  }
  return KeepModuleFields();
}

// Fields that the header takes whole are looked into only where they hold unknown ones.
absl::Status ModuleReader::KeepModuleFields() {
  using M = pb::HloModuleProto;
  constexpr int kTaken[] = {M::kScheduleFieldNumber,
                            M::kEntryComputationIdFieldNumber,
                            M::kNameFieldNumber,
                            M::kEntryComputationNameFieldNumber,
                            M::kHostProgramShapeFieldNumber,
                            M::kInputOutputAliasFieldNumber,
                            M::kBufferDonorFieldNumber,
                            M::kFrontendAttributesFieldNumber,
                            M::kStackFrameIndexFieldNumber,
                            M::kOriginalValueRecoveryTableFieldNumber,
                            M::kHlokitFieldNumber};
  constexpr size_t kNeverWritten = 2;  // the first ones
  const absl::Span<const int> taken(kTaken);
  if (!header_has_unknown_) {
    unknown_.KeepOfModule(FieldsBeyond(header_bytes_, taken));
    return absl::OkStatus();
  }
  pb::HloModuleProto written;
  RETURN_IF_ERROR(WriteHeader(*module_, &written));
  RETURN_IF_ERROR(WriteHostShape(*module_, &written));
  WriteStackFrames(module_->header().stack_frames, written.mutable_stack_frame_index());
  unknown_.KeepOfModule(UnknownFieldsOf(header_, written, taken.first(kNeverWritten)));
  return absl::OkStatus();
}

absl::Status ModuleReader::KeepInstructionFields() {
  if (with_unknown_.empty()) return absl::OkStatus();
  const ProtoIds ids(*module_, unknown_);
  StackFrameNumbering frames(module_->header().stack_frames);
  for (const auto& [instruction, bytes] : with_unknown_) {
    RETURN_IF_ERROR(ParseInstruction(bytes));
    frames.Use(instruction->metadata().stack_frame_id);
    InstructionMessage written;
    RETURN_IF_ERROR(WriteInstruction(*instruction, ids, frames, &written));
    unknown_.Keep(*instruction, UnknownFieldsOf(*instruction_, written, kFormerFields));
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
