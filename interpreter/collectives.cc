// Collectives and messages between the interpreter's devices.
//
// Each member of a group gives its operands to the run's communicator, which calls EvaluateFor once
// all have come: one member evaluates the collective for all of its process (EvaluateGroup of ops/)
// and stores each one's result in its contribution. A message is the bytes of the leaves and the
// sizes of their dimensions. A wait that can never end is an error that names the instructions.
#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "interpreter/collectives_internal.h"
#include "ops/collective/device_groups.h"
#include "support/status.h"
#include "support/within_memory.h"
#include "types/literal_leaves.h"

namespace hlokit {
namespace {

std::string PlaceText(const Instruction& instruction) {
  return absl::StrCat(Text(instruction.opcode()), " %", instruction.name());
}

int64_t ChannelOf(const Instruction& instruction) {
  return instruction.attr<SendRecvAttrs>().channel_id.value_or(0);
}

// What a device gives to a collective, and gets.
struct Contribution {
  MemberOperands operands;
  absl::StatusOr<Literal> result;
};

// The operands as arrays, as devices of other processes see them.
struct RawOperands {
  explicit RawOperands(absl::Span<const Literal* const> literals) {
    for (const Literal* literal : literals) {
      arrays.push_back({1, literal->byte_size(), ByteWidth(literal->type()), 0, nullptr});
      operands.push_back(literal->data());
    }
  }
  std::vector<HlokitCollectiveArray> arrays;
  std::vector<const void*> operands;
};

// The operands of each member of a group, whose shapes are those of `own`.
class GroupOperands {
 public:
  absl::Status Add(const Communicator::Member& member, const MemberOperands& own) {
    if (member.own != nullptr) {
      members_.push_back(static_cast<Contribution*>(member.own)->operands);
      return absl::OkStatus();
    }
    MemberOperands& copies = members_.emplace_back();
    for (size_t k = 0; k < own.size(); ++k) {
      if (own[k]->shape().HasDynamicDims())
        return Unimplemented("a collective of dynamic dimensions over several processes");
      Literal& copy = copies_.emplace_back(Literal::Unset(own[k]->shape()));
      if (copy.byte_size() > 0)
        std::memcpy(copy.data(), member.operands[k], static_cast<size_t>(copy.byte_size()));
      copies.push_back(&copy);
    }
    return absl::OkStatus();
  }
  absl::Span<const MemberOperands> members() const { return members_; }

 private:
  std::vector<MemberOperands> members_;
  std::deque<Literal> copies_;  // of other processes' arrays
};

// Computes the results of all members that are in this process.
void EvaluateFor(std::span<Communicator::Member* const> members, const MemberOperands& own,
                 const EvalContext& context) {
  auto results = WithinMemory("a collective", [&]() -> absl::StatusOr<std::vector<Literal>> {
    GroupOperands operands;
    for (const Communicator::Member* member : members) RETURN_IF_ERROR(operands.Add(*member, own));
    return EvaluateGroup(context.instruction, operands.members(), context.call);
  });
  for (size_t i = 0; i < members.size(); ++i) {
    auto* const local = static_cast<Contribution*>(members[i]->own);
    if (local == nullptr) continue;
    if (results.ok())
      local->result = std::move((*results)[i]);
    else
      local->result = results.status();
  }
}

// The arrays of a message: the leaves' elements, then the sizes of each leaf's dimensions where
// some are dynamic.
std::vector<int64_t> DynamicSizes(absl::Span<const Literal* const> leaves) {
  std::vector<int64_t> sizes;
  for (const Literal* leaf : leaves)
    for (int d = 0; leaf->shape().IsArray() && d < leaf->shape().rank(); ++d)
      sizes.push_back(leaf->dynamic_size(d));
  return sizes;
}

template <typename T>
std::span<const char> BytesOf(const T* data, int64_t bytes) {
  return {reinterpret_cast<const char*>(data), static_cast<size_t>(bytes)};
}

absl::Status ReadMessage(std::span<const std::span<const char>> message, Literal& into) {
  std::vector<Literal*> leaves;
  CollectLeaves(into, leaves);
  bool fits = message.size() == leaves.size() + 1;
  for (size_t k = 0; fits && k < leaves.size(); ++k)
    fits = static_cast<int64_t>(message[k].size()) == leaves[k]->byte_size();
  size_t dims = 0;
  for (const Literal* leaf : leaves) dims += leaf->shape().IsArray() ? leaf->shape().rank() : 0;
  if (!fits || message.back().size() != dims * sizeof(int64_t))
    return InvalidArgument("the message is of another size");
  const char* sizes = message.back().data();
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (!message[k].empty()) std::memcpy(leaves[k]->data(), message[k].data(), message[k].size());
    for (int d = 0; leaves[k]->shape().IsArray() && d < leaves[k]->shape().rank(); ++d) {
      int64_t size = 0;
      std::memcpy(&size, sizes, sizeof size);
      sizes += sizeof size;
      if (size != leaves[k]->dynamic_size(d)) leaves[k]->set_dynamic_size(d, size);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Collectives::Collective(int64_t device, const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  ASSIGN_OR_RETURN(const std::vector<int64_t> group,
                   DeviceGroupOf(instruction, device, replicas_, partitions_));
  if (group.empty()) {  // in no group: zeros of the result's shape
    if (instruction.opcode() == Opcode::kCollectiveBroadcast) return Literal(instruction.shape());
    return InvalidArgument("device ", device, " is in no replica group");
  }
  const std::string at = PlaceText(instruction);
  Contribution own;
  own.operands.assign(context.operands.begin(), context.operands.end());
  const RawOperands raw(context.operands);
  Communicator::Part part;
  part.waiter = {device, at.c_str(), instruction.id()};
  part.group = group;
  part.place = std::find(group.begin(), group.end(), device) - group.begin();
  part.arrays = raw.arrays;
  part.operands = raw.operands.data();
  part.own = &own;
  const auto evaluate = [&](std::span<Communicator::Member* const> members) {
    EvaluateFor(members, own.operands, context);
  };
  RETURN_IF_ERROR(Error(communicator_.Evaluate(part, evaluate), part.waiter));
  RETURN_IF_ERROR(own.result.status());
  return WrapStart(instruction, context.operands, *std::move(own.result));
}

absl::Status Collectives::Send(int64_t device, const Instruction& instruction,
                               const Literal& data) {
  std::vector<const Literal*> leaves;
  CollectLeaves(data, leaves);
  const std::vector<int64_t> sizes = DynamicSizes(leaves);
  std::vector<std::span<const char>> message;
  for (const Literal* leaf : leaves) message.push_back(BytesOf(leaf->data(), leaf->byte_size()));
  message.push_back(BytesOf(sizes.data(), sizes.size() * sizeof(int64_t)));
  const std::string at = PlaceText(instruction);
  const auto send = [&](int64_t target) {
    communicator_.Send({device, at.c_str(), instruction.id()}, ChannelOf(instruction), target,
                       message);
  };
  const auto pairs = TransferPairs(instruction);
  if (pairs.empty()) send(-1);
  for (const auto& [source, target] : pairs)
    if (source == device) send(target);
  return absl::OkStatus();
}

absl::StatusOr<Literal> Collectives::Receive(int64_t device, const Instruction& instruction) {
  const Instruction& recv =
      instruction.opcode() == Opcode::kRecvDone ? *instruction.operand(0) : instruction;
  const auto pairs = TransferPairs(recv);
  bool expected = pairs.empty();
  for (const auto& [source, target] : pairs) expected |= target == device;
  Literal data(instruction.shape().elements[0]);
  if (!expected) return data;
  const std::string at = PlaceText(instruction);
  const Communicator::Waiter waiter{device, at.c_str(), instruction.id()};
  absl::Status read;
  const auto take = [&](std::span<const std::span<const char>> message) {
    read = ReadMessage(message, data);
  };
  RETURN_IF_ERROR(Error(
      communicator_.Receive(waiter, ChannelOf(instruction), pairs.empty() ? -1 : device, take),
      waiter));
  RETURN_IF_ERROR(read);
  return data;
}

absl::Status Collectives::Error(Communicator::End end, const Communicator::Waiter& waiter) const {
  if (end == Communicator::End::kNone) return absl::OkStatus();
  const std::string text = communicator_.Text(end, waiter);
  if (end == Communicator::End::kStopped) return absl::CancelledError(text);
  return FailedPrecondition(text);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
