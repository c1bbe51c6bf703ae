// The attributes that an opcode has of its own, between the IR and the fields of its message.
#pragma once

#include "absl/status/status.h"
#include "ir/instruction.h"
#include "proto/messages_internal.h"

namespace hlokit {

// `instruction` has its operands. Errors: InvalidArgument for a value that has no form as a
// message.
absl::Status WriteAttributes(const Instruction& instruction, pb::HloInstructionProto* out);

// Fills the attributes of an instruction of the opcode that `in` names; operands may be missing
// yet. Errors: InvalidArgument with the field's name.
absl::Status ReadAttributes(const pb::HloInstructionProto& in, Seen& seen,
                            Instruction& instruction);

// The attributes of opcodes that the table has no row for, as OPCODE.ATTRIBUTE: none, as a test
// holds.
std::vector<std::string> AttributesWithoutRow();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
