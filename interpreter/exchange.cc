// Meetings of devices, their groups, and deadlock detection.
#include "interpreter/exchange_internal.h"

#include <algorithm>
#include <utility>

#include "ops/device_groups.h"
#include "support/status.h"

namespace hlokit {

absl::StatusOr<Literal> Exchange::Collective(int64_t device, const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  ASSIGN_OR_RETURN(const std::vector<int64_t> group,
                   DeviceGroupOf(instruction, device, replicas_, partitions_));
  if (group.empty()) {  // in no group: zeros of the result's shape
    if (instruction.opcode() == Opcode::kCollectiveBroadcast) return Literal(instruction.shape());
    return InvalidArgument("device ", device, " is in no replica group");
  }
  const size_t position = std::find(group.begin(), group.end(), device) - group.begin();
  std::unique_lock<std::mutex> lock(mutex_);
  // Whoever waited for this device may be gone, with what it brought.
  RETURN_IF_ERROR(End());
  const MeetingKey key(&instruction, group);
  const std::shared_ptr<Meeting> meeting = MeetingAt(key);
  meeting->operands.resize(group.size());
  meeting->operands[position].assign(context.operands.begin(), context.operands.end());
  if (++meeting->arrived < group.size()) {
    RETURN_IF_ERROR(Wait(lock, meeting->done, meeting->begun, device, instruction));
  } else {
    meetings_.erase(key);
    meeting->begun = true;
    lock.unlock();  // the others wait; nobody else knows of this meeting
    auto results = EvaluateGroup(instruction, meeting->operands, context.call);
    lock.lock();
    meeting->status = results.status();
    if (results.ok()) meeting->results = *std::move(results);
    meeting->done = true;
    Release(group.size() - 1);
  }
  RETURN_IF_ERROR(meeting->status);
  return WrapStart(instruction, context.operands, std::move(meeting->results[position]));
}

std::shared_ptr<Exchange::Meeting> Exchange::MeetingAt(const MeetingKey& key) {
  std::shared_ptr<Meeting>& slot = meetings_[key];
  if (slot == nullptr) slot = std::make_shared<Meeting>();
  return slot;
}

absl::Status Exchange::Send(int64_t device, const Instruction& instruction, const Literal& data) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto put = [&](Mailbox& box) {
    box.messages.push_back(data);
    if (box.awaited == nullptr) return;
    *std::exchange(box.awaited, nullptr) = true;
    Release(1);
  };
  const auto pairs = TransferPairs(instruction);
  if (pairs.empty()) put(MailboxOf(device, instruction, false));
  for (const auto& [source, target] : pairs)
    if (source == device) put(MailboxOf(target, instruction, true));
  return absl::OkStatus();
}

Exchange::Mailbox& Exchange::MailboxOf(int64_t device, const Instruction& instruction,
                                       bool has_pairs) {
  const int64_t channel = instruction.attr<SendRecvAttrs>().channel_id.value_or(0);
  return mailboxes_[{channel, has_pairs ? device : -1}];
}

absl::StatusOr<Literal> Exchange::Receive(int64_t device, const Instruction& instruction) {
  const Instruction& recv =
      instruction.opcode() == Opcode::kRecvDone ? *instruction.operand(0) : instruction;
  const auto pairs = TransferPairs(recv);
  bool expected = pairs.empty();
  for (const auto& [source, target] : pairs) expected |= target == device;
  if (!expected) return Literal(instruction.shape().elements[0]);
  std::unique_lock<std::mutex> lock(mutex_);
  Mailbox& box = MailboxOf(device, instruction, !pairs.empty());
  while (box.messages.empty()) {
    if (box.awaited != nullptr)
      return FailedPrecondition("two devices wait for one message at ", instruction.name());
    bool came = false;
    box.awaited = &came;
    const absl::Status status = Wait(lock, came, came, device, instruction);
    if (box.awaited == &came) box.awaited = nullptr;
    RETURN_IF_ERROR(status);
  }
  Literal message = std::move(box.messages.front());
  box.messages.pop_front();
  return message;
}

absl::Status Exchange::End() const {
  if (stopped_) return absl::CancelledError("stopped with the other devices");
  if (deadlocked_) return FailedPrecondition("devices wait for one another for ever: ", deadlock_);
  return absl::OkStatus();
}

absl::Status Exchange::Wait(std::unique_lock<std::mutex>& lock, const bool& done, const bool& begun,
                            int64_t device, const Instruction& instruction) {
  ++waiting_;
  waits_at_[device] = &instruction;
  CheckDeadlock();
  changed_.wait(lock, [&] { return done || (!begun && !End().ok()); });
  if (!done) return End();
  waits_at_[device] = nullptr;
  return absl::OkStatus();
}

std::string Exchange::WaitingText() const {
  constexpr int kMost = 16;
  std::string text;
  int named = 0;
  for (size_t device = 0; device < waits_at_.size(); ++device) {
    const Instruction* at = waits_at_[device];
    if (at == nullptr && !left_[device]) continue;
    if (++named > kMost) return text + ", ...";
    absl::StrAppend(&text, named > 1 ? ", " : "", "device ", device);
    if (left_[device])
      text += " has ended";
    else
      absl::StrAppend(&text, " at ", Text(at->opcode()), " %", at->name());
  }
  return text;
}

void Exchange::Release(int64_t waiters) {
  waiting_ -= waiters;
  changed_.notify_all();
}

void Exchange::CheckDeadlock() {
  if (waiting_ < running_ || waiting_ == 0) return;
  deadlocked_ = true;
  deadlock_ = WaitingText();
  changed_.notify_all();
}

void Exchange::Leave(int64_t device, bool failed) {
  std::lock_guard<std::mutex> lock(mutex_);
  left_[device] = true;
  --running_;
  if (failed) stopped_ = true;
  changed_.notify_all();
  if (!stopped_) CheckDeadlock();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
