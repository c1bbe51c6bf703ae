// What must hold of instructions and computations that come from messages.
//
// Text is checked by the parser while it is read; a message may claim anything: an add of one
// operand, a while of no computations, a parameter number that is taken twice. What code behind the
// reader relies on without asking (counts of operands and computations, the form of asynchronous
// tuples) is checked here, with the message's field in the error. All else is the verifier's.
#include "proto/read_checks_internal.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "support/status.h"

namespace hlokit {

absl::Status CheckOperands(const Instruction& instruction) {
  const OpInfo& info = Info(instruction.opcode());
  const int64_t count = instruction.operand_count();
  if (info.exact ? count != info.min_operands : count < info.min_operands)
    return InvalidArgument("operand_ids: ", info.text, " takes ", info.exact ? "" : "at least ",
                           info.min_operands, info.min_operands == 1 ? " operand" : " operands",
                           ", found ", count);
  if (instruction.opcode() != Opcode::kAsyncUpdate && instruction.opcode() != Opcode::kAsyncDone)
    return absl::OkStatus();
  const Opcode before = instruction.operand(0)->opcode();
  if (before == Opcode::kAsyncStart || before == Opcode::kAsyncUpdate) return absl::OkStatus();
  return InvalidArgument("operand_ids: the operand of ", info.text,
                         " is no async-start or async-update");
}

absl::Status CheckCalled(const Instruction& instruction) {
  const auto count = static_cast<int64_t>(instruction.called().size());
  int64_t least = 1;
  int64_t most = 1;
  switch (Info(instruction.opcode()).calls) {
    case CallForm::kCondBody:
    case CallForm::kSelectScatter:
      least = most = 2;
      break;
    case CallForm::kBranches:
      most = count;
      break;
    case CallForm::kNoCalls:
    case CallForm::kCustomCalls:
      return absl::OkStatus();
    case CallForm::kAsyncCalls:
      if (instruction.opcode() != Opcode::kAsyncStart) return absl::OkStatus();
      break;
    default:
      break;
  }
  if (count >= least && count <= most) return absl::OkStatus();
  return InvalidArgument("called_computation_ids: ", Text(instruction.opcode()), " calls ", least,
                         least == 1 ? " computation" : " computations", ", found ", count);
}

absl::Status CheckAsyncShape(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  if (instruction.opcode() != Opcode::kAsyncStart) return absl::OkStatus();
  if (shape.IsTuple() && shape.elements.size() >= 2 && shape.elements[0].IsTuple())
    return absl::OkStatus();
  return InvalidArgument("shape: an async-start is of ((operands...), results, state...)");
}

void SplitSliceSizes(const google::protobuf::RepeatedField<int64_t>& sizes,
                     Instruction& instruction) {
  if (instruction.opcode() != Opcode::kCollectivePermute &&
      instruction.opcode() != Opcode::kCollectivePermuteStart)
    return;
  auto& lists = instruction.mutable_attr<CollectivePermuteAttrs>().slice_sizes;
  const Shape& operand = instruction.operand(0)->shape();
  size_t part = 0;
  for (int at = 0; at < sizes.size();) {
    const Shape& shape = operand.IsTuple() && !operand.elements.empty()
                             ? operand.elements[part++ % operand.elements.size()]
                             : operand;
    const int rank = std::clamp(shape.rank(), 1, sizes.size() - at);
    DimVector& list = lists.emplace_back();
    for (int d = 0; d < rank; ++d) list.push_back(sizes[at++]);
  }
}

absl::Status CheckParameters(Computation& computation) {
  absl::InlinedVector<const Instruction*, 8> parameters;
  computation.ForEach([&](const Instruction* i) {
    if (i->IsParameter()) parameters.push_back(i);
  });
  absl::InlinedVector<bool, 16> taken(parameters.size(), false);
  for (const Instruction* parameter : parameters) {
    const int64_t number = parameter->parameter_number();
    if (number < 0 || number >= static_cast<int64_t>(taken.size()) || taken[number])
      return InvalidArgument("%", parameter->name(), ": parameter_number: ", number,
                             " is not one of 0 to ", taken.size() - 1, ", or is there twice");
    taken[number] = true;
  }
  computation.RebuildParameters();
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
