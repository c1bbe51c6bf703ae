// Collectives and messages between the interpreter's devices.
//
// All members of a group meet; the last one to arrive evaluates the collective for all
// (EvaluateGroup of ops/) and stores each member's result in its contribution, then they part.
// Sends and receives match by channel and target device. A wait that can never end (all devices
// wait, or one has failed) is reported by support/rendezvous.h as an error that names the
// instructions.
#include "interpreter/communicator_internal.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/device_groups.h"
#include "support/status.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

std::string PlaceText(const Instruction& instruction) {
  return absl::StrCat(Text(instruction.opcode()), " %", instruction.name());
}

int64_t ChannelOf(const Instruction& instruction) {
  return instruction.attr<SendRecvAttrs>().channel_id.value_or(0);
}

}  // namespace

absl::StatusOr<Literal> Communicator::Collective(int64_t device, const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  ASSIGN_OR_RETURN(const std::vector<int64_t> group,
                   DeviceGroupOf(instruction, device, replicas_, partitions_));
  if (group.empty()) {  // in no group: zeros of the result's shape
    if (instruction.opcode() == Opcode::kCollectiveBroadcast) return Literal(instruction.shape());
    return InvalidArgument("device ", device, " is in no replica group");
  }
  const size_t place = std::find(group.begin(), group.end(), device) - group.begin();
  const std::string at = PlaceText(instruction);
  const Rendezvous::Waiter waiter{device, at.c_str()};
  Contribution own;
  own.operands.assign(context.operands.begin(), context.operands.end());
  std::shared_ptr<GroupMeetings::Meeting> meeting;
  RETURN_IF_ERROR(Error(
      meetings_.Meet(waiter, {&instruction, group}, group.size(), place, own, meeting), waiter));
  if (place == meeting->last) EvaluateFor(*meeting, context);
  meetings_.Part(*meeting);
  RETURN_IF_ERROR(own.result.status());
  return WrapStart(instruction, context.operands, *std::move(own.result));
}

void Communicator::EvaluateFor(const GroupMeetings::Meeting& meeting, const EvalContext& context) {
  absl::StatusOr<std::vector<Literal>> results = WithinMemory("a collective", [&] {
    std::vector<MemberOperands> members;
    for (const Contribution* contribution : meeting.contributions)
      members.push_back(contribution->operands);
    return EvaluateGroup(context.instruction, members, context.call);
  });
  for (size_t i = 0; i < meeting.contributions.size(); ++i) {
    if (results.ok())
      meeting.contributions[i]->result = std::move((*results)[i]);
    else
      meeting.contributions[i]->result = results.status();
  }
}

absl::Status Communicator::Send(int64_t device, const Instruction& instruction,
                                const Literal& data) {
  const auto pairs = TransferPairs(instruction);
  if (pairs.empty()) mailboxes_.Send(ChannelOf(instruction), -1, data);
  for (const auto& [source, target] : pairs)
    if (source == device) mailboxes_.Send(ChannelOf(instruction), target, data);
  return absl::OkStatus();
}

absl::StatusOr<Literal> Communicator::Receive(int64_t device, const Instruction& instruction) {
  const Instruction& recv =
      instruction.opcode() == Opcode::kRecvDone ? *instruction.operand(0) : instruction;
  const auto pairs = TransferPairs(recv);
  bool expected = pairs.empty();
  for (const auto& [source, target] : pairs) expected |= target == device;
  if (!expected) return Literal(instruction.shape().elements[0]);
  const std::string at = PlaceText(instruction);
  const Rendezvous::Waiter waiter{device, at.c_str()};
  Literal message;
  RETURN_IF_ERROR(Error(
      mailboxes_.Receive(waiter, ChannelOf(instruction), pairs.empty() ? -1 : device, message),
      waiter));
  return message;
}

absl::Status Communicator::Error(Rendezvous::End end, const Rendezvous::Waiter& waiter) const {
  if (end == Rendezvous::End::kNone) return absl::OkStatus();
  const std::string text = waits_.Text(end, waiter);
  if (end == Rendezvous::End::kStopped) return absl::CancelledError(text);
  return FailedPrecondition(text);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
