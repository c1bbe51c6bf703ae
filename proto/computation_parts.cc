// Messages of computations taken apart.
//
// A computation's message is nearly all instructions. One pass over its fields notes name, ids,
// thread and shapes as views of the bytes, counts the instructions so that lists are made in their
// final size, and skips their contents (a length and a jump each). What is none of the known fields
// sets has_others, and only then is the message parsed whole, to keep what it holds.
#include "proto/computation_parts_internal.h"

#include "proto/messages_internal.h"

namespace hlokit {
namespace {

using ComputationFields = pb::HloComputationProto;
static_assert(ComputationFields::kInstructionsFieldNumber == 2, "as ForEachInstruction has it");

constexpr uint64_t kInstruction =
    WireTag(ComputationFields::kInstructionsFieldNumber, WireType::kBytes);

// False for a field that is not known.
bool Take(const WireField& field, ComputationParts& parts) {
  const auto text = [&](absl::string_view& to) {
    if (field.type != WireType::kBytes) return false;
    to = field.content;
    return true;
  };
  const auto number = [&](int64_t& to) {
    if (field.type != WireType::kVarint) return false;
    to = static_cast<int64_t>(field.varint);
    return true;
  };
  int64_t is_fusion = 0;  // which its caller says too
  switch (field.number) {
    case ComputationFields::kNameFieldNumber:
      return text(parts.name);
    case ComputationFields::kExecutionThreadFieldNumber:
      return text(parts.execution_thread);
    case ComputationFields::kProgramShapeFieldNumber:
      return field.type == WireType::kBytes && text(parts.program_shapes.emplace_back());
    case ComputationFields::kIdFieldNumber:
      return number(parts.id);
    case ComputationFields::kRootIdFieldNumber:
      return number(parts.root_id);
    case ComputationFields::kIsFusionComputationFieldNumber:
      return number(is_fusion);
    default:
      return false;
  }
}

}  // namespace

bool ReadParts(absl::string_view bytes, ComputationParts& parts) {
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd()) {
    const char* const start = reader.at();
    uint64_t tag = 0;
    if (!reader.Tag(tag)) return false;
    if (tag == kInstruction) {
      if (!reader.Bytes(field)) return false;
      ++parts.instruction_count;
      continue;
    }
    if (!reader.After(tag, start, field)) return false;
    parts.has_others |= !Take(field, parts);
  }
  return IsUtf8(parts.name) && IsUtf8(parts.execution_thread);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
