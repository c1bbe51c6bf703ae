// Instructions between the IR and their messages: all but ids, operands and what they call.
#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "ir/module.h"
#include "printer/stack_frames.h"
#include "proto/messages_internal.h"
#include "proto/unknown_fields_internal.h"
#include "proto/wire_internal.h"

namespace hlokit {

// Longer messages, such as those of large constants, hardly come twice.
inline constexpr size_t kLongestKnown = 512;  // bytes

// Ids of computations and instructions in the messages of a module: an instruction's is its
// computation's, shifted by 32 bits, and its number there. What a protobuf gave stays; what came
// later is numbered on.
class ProtoIds {
 public:
  // Calls `visit` for each instruction on the way, in the order in which they were made.
  ProtoIds(
      const Module& module, const UnknownFields& unknown,
      absl::FunctionRef<void(const Instruction&)> visit = [](const Instruction&) {});
  int64_t Of(const Computation& computation) const { return computations_[computation.id()]; }
  int64_t Of(const Instruction& instruction) const { return instructions_[instruction.id()]; }

  // The part of an id that tells instructions of one computation (and computations) apart.
  static int32_t Local(int64_t id) { return static_cast<int32_t>(id & 0x7fffffff); }

 private:
  std::vector<int64_t> computations_, instructions_;  // by id()
};

// Everything about an instruction but its unknown fields. Errors: InvalidArgument, naming the
// instruction, for texts that have no form as messages.
absl::Status WriteInstruction(const Instruction& instruction, const ProtoIds& ids,
                              const StackFrameNumbering& frames, pb::HloInstructionProto* out);

// Parts of it: the metadata; the fields from the id to the called computations, as bytes; and all
// but these, name, opcode and shape.
void WriteMetadata(const Instruction& instruction, const StackFrameNumbering& frames,
                   pb::OpMetadata* out);
void AppendEdges(const Instruction& instruction, const ProtoIds& ids, WireWriter& out);
size_t MostOfEdges(const Instruction& instruction);  // bytes that AppendEdges may write
absl::Status WriteOthers(const Instruction& instruction, pb::HloInstructionProto* out);
// The number that the message gives to the instruction's stack frame.
int64_t FrameOf(const Instruction& instruction, const StackFrameNumbering& frames);

// An instruction with its name, attributes and annotations, and with the shape and metadata, which
// were read before. Errors: InvalidArgument with the path of the field, that of the shape among
// them.
absl::StatusOr<std::unique_ptr<Instruction>> ReadInstruction(const pb::HloInstructionProto& in,
                                                             absl::StatusOr<Shared<Shape>> shape,
                                                             Shared<OpMetadata> metadata,
                                                             Seen& seen);

// Fields of an instruction that older XLA wrote and this version brings to the newer ones.
inline constexpr int kFormerFields[] = {pb::HloInstructionProto::kAllReduceIdFieldNumber,
                                        pb::HloInstructionProto::kReplicaGroupsFieldNumber};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
