// Meetings of devices, their groups, and deadlock detection.
#include "interpreter/exchange_internal.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "support/status.h"

namespace hlokit {
namespace {

// What a collective says of its group, whichever struct says it.
struct GroupAttrs {
  bool has_channel = false;
  bool has_global_flag = false;  // ops that may carry use_global_device_ids
  bool use_global_device_ids = false;
  bool permutes = false;  // source-target pairs instead of groups: all devices meet
  ReplicaGroups groups;
};

template <typename A>
GroupAttrs From(const A& attrs) {
  GroupAttrs group;
  group.has_channel = attrs.channel_id.has_value();
  if constexpr (requires { attrs.use_global_device_ids; }) {
    group.has_global_flag = true;
    group.use_global_device_ids = attrs.use_global_device_ids;
  }
  if constexpr (requires { attrs.replica_groups; })
    group.groups = attrs.replica_groups;
  else
    group.permutes = true;
  return group;
}

absl::StatusOr<GroupAttrs> GroupAttrsOf(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return From(instruction.attr<AllReduceAttrs>());
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
      return From(instruction.attr<AllGatherAttrs>());
    case Opcode::kReduceScatter:
      return From(instruction.attr<ReduceScatterAttrs>());
    case Opcode::kAllToAll:
      return From(instruction.attr<AllToAllAttrs>());
    case Opcode::kRaggedAllToAll:
      return From(instruction.attr<RaggedAllToAllAttrs>());
    case Opcode::kCollectiveBroadcast:
      return From(instruction.attr<CollectiveBroadcastAttrs>());
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return From(instruction.attr<CollectivePermuteAttrs>());
    default:
      return Unimplemented("communication by ", Text(instruction.opcode()));
  }
}

// {{0,1},{1,2}} of a send's or receive's frontend attribute.
std::vector<std::pair<int64_t, int64_t>> TransferPairs(const Instruction& instruction) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const auto& [key, value] : instruction.extras().frontend_attributes) {
    if (key != "_xla_send_recv_source_target_pairs") continue;
    const std::string plain =
        absl::StrReplaceAll(value, {{"{", ""}, {"}", ""}, {"\"", ""}, {" ", ""}});
    std::vector<int64_t> numbers;
    for (absl::string_view text : absl::StrSplit(plain, ',', absl::SkipEmpty())) {
      int64_t number = 0;
      if (absl::SimpleAtoi(text, &number)) numbers.push_back(number);
    }
    for (size_t i = 0; i + 1 < numbers.size(); i += 2)
      pairs.push_back({numbers[i], numbers[i + 1]});
  }
  return pairs;
}

}  // namespace

// Ids in groups are replicas (no channel), partitions (a channel, and no flag to say otherwise),
// replicas each with all of its partitions (a channel, flag false), or devices replica * partitions
// + partition (flag true).
absl::StatusOr<std::vector<int64_t>> Exchange::GroupOf(int64_t device,
                                                       const Instruction& instruction) const {
  const int64_t replica = device / partitions_, partition = device % partitions_;
  if (instruction.opcode() == Opcode::kCustomCall) {  // out of a manual region: all partitions
    std::vector<int64_t> partitions(partitions_);
    std::iota(partitions.begin(), partitions.end(), replica * partitions_);
    return partitions;
  }
  ASSIGN_OR_RETURN(const GroupAttrs attrs, GroupAttrsOf(instruction));
  enum { kReplicas, kPartitions, kReplicasWhole, kDevices } mode = kReplicas;
  if (attrs.has_channel) mode = !attrs.has_global_flag ? kPartitions : kReplicasWhole;
  if (attrs.use_global_device_ids) mode = kDevices;
  const int64_t ids = mode == kPartitions ? partitions_
                      : mode == kDevices  ? device_count()
                                          : replicas_;
  const int64_t own = mode == kPartitions ? partition : mode == kDevices ? device : replica;
  std::vector<int64_t> group;
  for (const std::vector<int64_t>& candidate : attrs.groups.Expand())
    if (std::find(candidate.begin(), candidate.end(), own) != candidate.end()) group = candidate;
  if (attrs.permutes || attrs.groups.empty()) {
    group.resize(ids);
    std::iota(group.begin(), group.end(), 0);
  }
  std::vector<int64_t> devices;
  for (int64_t id : group) {
    if (id < 0 || id >= ids)
      return InvalidArgument("replica group names ", id, ", which is no device of ", ids);
    if (mode == kReplicas) devices.push_back(id * partitions_ + partition);
    if (mode == kPartitions) devices.push_back(replica * partitions_ + id);
    if (mode == kDevices) devices.push_back(id);
    for (int64_t p = 0; mode == kReplicasWhole && p < partitions_; ++p)
      devices.push_back(id * partitions_ + p);
  }
  return devices;
}

absl::StatusOr<Literal> Exchange::Collective(int64_t device, const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  ASSIGN_OR_RETURN(const std::vector<int64_t> group, GroupOf(device, instruction));
  if (group.empty()) {  // in no group: zeros of the result's shape
    if (instruction.opcode() == Opcode::kCollectiveBroadcast) return Literal(instruction.shape());
    return InvalidArgument("device ", device, " is in no replica group");
  }
  const size_t position = std::find(group.begin(), group.end(), device) - group.begin();
  std::unique_lock<std::mutex> lock(mutex_);
  const MeetingKey key(&instruction, group);
  const std::shared_ptr<Meeting> meeting = MeetingAt(key);
  meeting->operands.resize(group.size());
  meeting->operands[position].assign(context.operands.begin(), context.operands.end());
  if (++meeting->arrived < group.size()) {
    RETURN_IF_ERROR(Wait(lock, meeting->done, device, instruction));
  } else {
    meetings_.erase(key);
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

absl::StatusOr<std::vector<const void*>> Exchange::Meet(int64_t device,
                                                        const Instruction& instruction,
                                                        const void* own, size_t& place) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> group, GroupOf(device, instruction));
  if (group.empty()) return InvalidArgument("device ", device, " is in no replica group");
  place = std::find(group.begin(), group.end(), device) - group.begin();
  std::unique_lock<std::mutex> lock(mutex_);
  const MeetingKey key(&instruction, group);
  const std::shared_ptr<Meeting> meeting = MeetingAt(key);
  meeting->brought.resize(group.size());
  meeting->brought[place] = own;
  if (++meeting->arrived < group.size()) {
    RETURN_IF_ERROR(Wait(lock, meeting->done, device, instruction));
  } else {
    meetings_.erase(key);
    meeting->done = true;
    Release(group.size() - 1);
  }
  return meeting->brought;
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
    const absl::Status status = Wait(lock, came, device, instruction);
    if (box.awaited == &came) box.awaited = nullptr;
    RETURN_IF_ERROR(status);
  }
  Literal message = std::move(box.messages.front());
  box.messages.pop_front();
  return message;
}

absl::Status Exchange::Wait(std::unique_lock<std::mutex>& lock, const bool& done, int64_t device,
                            const Instruction& instruction) {
  ++waiting_;
  waits_at_[device] = &instruction;
  CheckDeadlock();
  changed_.wait(lock, [&] { return done || stopped_ || deadlocked_; });
  if (done) {
    waits_at_[device] = nullptr;
    return absl::OkStatus();
  }
  if (stopped_) return absl::CancelledError("stopped with the other devices");
  return FailedPrecondition("devices wait for one another for ever: ", deadlock_);
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
