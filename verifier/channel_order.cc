// Finds deadlocks of send and recv: cycles in the graph of which channel instruction waits for
// which.
//
// An instruction waits for the one before it in its computation's schedule, a send for the recv of
// its channel, and the -done halves for both.
//   A: send(0), recv(1)   B: send(1), recv(0)   deadlock: both wait in their send
//   A: recv(1), send(0)   B: recv(0), send(1)   fine: recv returns at once, recv-done waits
// Instructions that a topological order cannot reach are on a cycle or behind one. Linear.
#include "verifier/channel_order.h"

#include <map>
#include <vector>

namespace hlokit {
namespace {

struct Channel {
  const Instruction* send = nullptr;
  const Instruction* send_done = nullptr;
  const Instruction* recv = nullptr;
  const Instruction* recv_done = nullptr;
};

// Channel instructions in the order they run, and what each one waits for.
class Waiting {
 public:
  explicit Waiting(absl::Span<const Computation* const> computations) {
    for (const Computation* computation : computations) AddComputation(*computation);
    for (const auto& [id, channel] : channels_) {
      if (channel.send == nullptr || channel.recv == nullptr) continue;
      AddEdge(channel.recv, channel.send);
      AddEdge(channel.send, channel.send_done);
      AddEdge(channel.send, channel.recv_done);
      AddEdge(channel.recv, channel.recv_done);
    }
  }

  // The instructions that wait for themselves, directly or through others, in the order they were
  // added.
  std::vector<const Instruction*> OnCircles() const {
    std::vector<size_t> open(nodes_.size());
    std::vector<size_t> ready;
    for (size_t i = 0; i < nodes_.size(); ++i) open[i] = waits_for_[i].size();
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (open[i] == 0) ready.push_back(i);
    while (!ready.empty()) {
      const size_t next = ready.back();
      ready.pop_back();
      for (size_t waiter : waiters_[next])
        if (--open[waiter] == 0) ready.push_back(waiter);
    }
    std::vector<const Instruction*> left;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (open[i] > 0) left.push_back(nodes_[i]);
    return left;
  }

 private:
  const Instruction** Slot(const Instruction& i) {
    Opcode opcode = i.opcode();
    if (opcode != Opcode::kSend && opcode != Opcode::kSendDone && opcode != Opcode::kRecv &&
        opcode != Opcode::kRecvDone)
      return nullptr;
    const auto& attr = i.attr<SendRecvAttrs>();
    if (attr.is_host_transfer || !attr.channel_id) return nullptr;
    Channel& channel = channels_[*attr.channel_id];
    if (opcode == Opcode::kSend) return &channel.send;
    if (opcode == Opcode::kSendDone) return &channel.send_done;
    return opcode == Opcode::kRecv ? &channel.recv : &channel.recv_done;
  }

  void AddComputation(const Computation& computation) {
    const std::vector<Instruction*> added = computation.Instructions();
    const absl::Span<Instruction* const> order =
        computation.has_schedule() ? computation.schedule() : absl::MakeConstSpan(added);
    const Instruction* before = nullptr;
    for (const Instruction* i : order) {
      const Instruction** slot = Slot(*i);
      if (slot == nullptr) continue;
      *slot = i;
      numbers_[i] = nodes_.size();
      nodes_.push_back(i);
      waits_for_.emplace_back();
      waiters_.emplace_back();
      if (before != nullptr) AddEdge(before, i);
      before = i;
    }
  }

  void AddEdge(const Instruction* first, const Instruction* second) {
    if (first == nullptr || second == nullptr) return;
    waits_for_[numbers_[second]].push_back(numbers_[first]);
    waiters_[numbers_[first]].push_back(numbers_[second]);
  }

  std::map<int64_t, Channel> channels_;
  std::map<const Instruction*, size_t> numbers_;
  std::vector<const Instruction*> nodes_;
  std::vector<std::vector<size_t>> waits_for_, waiters_;
};

}  // namespace

void CheckChannelOrder(absl::Span<const Computation* const> computations, Diagnostics& out) {
  const Computation* reported = nullptr;
  for (const Instruction* i : Waiting(computations).OnCircles()) {
    if (i->parent() == reported) continue;
    reported = i->parent();
    out.Error(i->place(), "channel-c2", Text(i->opcode()), ": %", i->name(), " of ",
              reported->name(), ", channel_id=", i->attr<SendRecvAttrs>().channel_id.value_or(0),
              ", waits for a transfer that waits for it");
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
