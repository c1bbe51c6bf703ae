// Orders transfers between devices before a schedule is made: a send that waits for a receive which
// comes after another device's send would wait for ever.
//   one channel:   recv -> send -> recv-done -> send-done
//   two channels of one cycle (pipeline streams 0 and 1):
//     recv.0 -> send.0 -> recv.1 -> send.1 -> recv-done.0 -> recv-done.1 -> send-done.0 ->
//     send-done.1
// A channel is pipelined where a loop's body has its four instructions and so has the computation
// of the loop, whose send-done the loop's state starts with. Other collectives, and what runs some,
// come before a pipelined chain in the body, and before or after any other chain.
#include <algorithm>
#include <map>
#include <set>

#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

bool IsTransfer(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kSend:
    case Opcode::kRecv:
    case Opcode::kSendDone:
    case Opcode::kRecvDone: {
      const auto& attrs = i.attr<SendRecvAttrs>();
      return !attrs.is_host_transfer && attrs.channel_id.has_value();
    }
    default:
      return false;
  }
}

int64_t ChannelOf(const Instruction& i) { return *i.attr<SendRecvAttrs>().channel_id; }

// The four instructions of a channel in one computation.
struct Chain {
  Instruction *recv = nullptr, *send = nullptr, *recv_done = nullptr, *send_done = nullptr;
  Instruction* loop = nullptr;  // that the chain's computation runs as the pipelined one's parent
  Computation* computation = nullptr;

  // False where it has one of that kind, or belongs to another computation.
  bool Take(Instruction* i) {
    if (computation == nullptr) computation = i->parent();
    if (computation != i->parent()) return false;
    Instruction*& place = i->opcode() == Opcode::kRecv       ? recv
                          : i->opcode() == Opcode::kSend     ? send
                          : i->opcode() == Opcode::kRecvDone ? recv_done
                                                             : send_done;
    if (place != nullptr) return false;
    place = i;
    return true;
  }
  bool IsComplete() const {
    return recv != nullptr && send != nullptr && recv_done != nullptr && send_done != nullptr;
  }
  // 0 or 1; -1 where send and receive name none or differ.
  int Stream() const {
    const absl::string_view a = FrontendAttribute(*send, "_xla_send_recv_pipeline");
    if (a != FrontendAttribute(*recv, "_xla_send_recv_pipeline")) return -1;
    return a == "0" ? 0 : a == "1" ? 1 : -1;
  }
};

struct Channel {
  Chain child, parent;  // the latter of a pipelined channel alone
  bool is_pipelined = false, is_unknown = false;
  int stream = -1;
  Channel* partner = nullptr;  // the other one of a cycle

  const Chain* In(const Computation* c) const {
    if (child.computation == c) return &child;
    return is_pipelined && parent.computation == c ? &parent : nullptr;
  }
};

// The first and the last instruction of what must not be interleaved.
struct Region {
  Instruction *first, *last;
};

class Orderer {
 public:
  explicit Orderer(Module& module) : module_(module) {}

  absl::StatusOr<bool> Run() {
    const std::vector<Computation*> order = module_.ComputationsPostOrder();
    runs_collectives_.resize(module_.computation_id_bound());
    for (Computation* c : order) Gather(*c);
    for (auto& [id, channel] : channels_) Finish(channel);
    std::erase_if(channels_, [](const auto& entry) { return entry.second.is_unknown; });
    if (channels_.empty()) return false;
    FindCycles();
    for (size_t k = order.size(); k-- > 0;) OrderIn(*order[k]);
    return changed_;
  }

 private:
  bool MayCommunicate(const Instruction& i) const {
    if (i.opcode() == Opcode::kCustomCall || i.opcode() == Opcode::kSendDone ||
        i.opcode() == Opcode::kRecvDone)
      return true;
    if (HasTrait(i.opcode(), kCollective) && !HasTrait(i.opcode(), kAsyncStart)) return true;
    if (HasTrait(i.opcode(), kAsyncDone) && i.opcode() != Opcode::kCopyDone) {
      const Opcode start = i.operand(0)->opcode();
      return HasTrait(start, kCollective) || start == Opcode::kAsyncStart;
    }
    for (const Computation* called : i.called())
      if (runs_collectives_[called->id()]) return true;
    return false;
  }

  void Gather(Computation& c) {
    std::vector<Instruction*> loops;
    for (Instruction* i : c.PostOrder()) {
      if (MayCommunicate(*i)) runs_collectives_[c.id()] = true;
      if (i->opcode() == Opcode::kWhile) loops.push_back(i);
      if (!IsTransfer(*i)) continue;
      Channel& channel = channels_[ChannelOf(*i)];
      const bool in_child = channel.child.computation == nullptr || channel.child.computation == &c;
      channel.is_pipelined |= !in_child;
      channel.is_unknown |= !(in_child ? channel.child : channel.parent).Take(i);
    }
    for (Instruction* loop : loops) NoteLoop(loop);
  }

  // A loop whose state starts with the end of a channel that its body goes on with.
  void NoteLoop(Instruction* loop) {
    if (loop->operand(0)->opcode() != Opcode::kTuple) return;
    for (const Instruction* part : loop->operand(0)->operands()) {
      if (part->opcode() != Opcode::kSendDone || !IsTransfer(*part)) continue;
      const auto found = channels_.find(ChannelOf(*part));
      if (found == channels_.end() || !found->second.is_pipelined ||
          found->second.child.computation != loop->called(1))
        continue;
      Chain& parent = found->second.parent;
      found->second.is_unknown |= parent.loop != nullptr || parent.computation != loop->parent();
      parent.loop = loop;
    }
  }

  static void Finish(Channel& channel) {
    if (channel.is_unknown) return;
    channel.is_unknown =
        !channel.child.IsComplete() ||
        (channel.is_pipelined && (!channel.parent.IsComplete() || channel.parent.loop == nullptr));
    if (channel.is_unknown) return;
    channel.stream = channel.child.Stream();
    if (channel.is_pipelined)
      channel.is_unknown = channel.stream < 0 || channel.parent.Stream() != channel.stream;
  }

  void FindCycles() {
    for (auto& [id, second] : channels_) {
      if (second.stream != 1 || second.partner != nullptr) continue;
      for (auto& [other, first] : channels_) {
        if (first.stream != 0 || first.partner != nullptr ||
            first.child.computation != second.child.computation ||
            (first.is_pipelined && first.parent.computation != second.parent.computation))
          continue;
        second.partner = &first;
        first.partner = &second;
        break;
      }
    }
  }

  // `a` before `b`, unless that would close a circle.
  void Before(Instruction* a, Instruction* b) {
    if (a == b || Needs(b, {a}) || Needs(a, {b})) return;
    AddEdge(a, b);
  }
  void Link(absl::Span<Instruction* const> chain) {
    for (size_t k = 1; k < chain.size(); ++k)
      if (!Needs(chain[k - 1], {chain[k]})) AddEdge(chain[k - 1], chain[k]);
  }
  void AddEdge(Instruction* a, Instruction* b) {
    const auto before = b->control_predecessors();
    if (std::find(before.begin(), before.end(), a) != before.end()) return;
    b->AddControlPredecessor(a);
    changed_ = true;
  }

  void LinkOne(const Chain& x) { Link({x.recv, x.send, x.recv_done, x.send_done}); }
  void LinkTwo(const Chain& x, const Chain& y) {
    Link({x.recv, x.send, y.recv, y.send, x.recv_done, y.recv_done, x.send_done, y.send_done});
  }

  static Region RegionOf(const Channel& channel, const Computation* c) {
    const Chain* chain = channel.In(c);
    const Chain* other = channel.partner == nullptr ? nullptr : channel.partner->In(c);
    if (other == nullptr) return {chain->recv, chain->send_done};
    const bool is_second = channel.stream == 1;
    return {(is_second ? other : chain)->recv, (is_second ? chain : other)->send_done};
  }

  void OrderIn(Computation& c) {
    std::vector<Channel*> here;
    Channel* pipelined = nullptr;
    for (auto& [id, channel] : channels_) {
      const Chain* chain = channel.In(&c);
      if (chain == nullptr) continue;
      here.push_back(&channel);
      const bool is_child = channel.is_pipelined && chain == &channel.child;
      const Chain* partner = channel.partner == nullptr ? nullptr : channel.partner->In(&c);
      if (partner == nullptr) {
        LinkOne(*chain);
      } else if (channel.stream == 1) {
        LinkTwo(*partner, *chain);
      } else {
        continue;
      }
      if (is_child) pipelined = &channel;
    }
    if (here.empty()) return;
    if (pipelined != nullptr) OrderBeforePipelined(c, *pipelined);
    for (const Channel* channel : here)
      if (!(channel->is_pipelined && channel->child.computation == &c)) OrderAround(c, *channel);
  }

  // Every other communication of the body comes before the chain that the next round goes on with.
  void OrderBeforePipelined(Computation& c, const Channel& channel) {
    const Region region = RegionOf(channel, &c);
    for (Instruction* i : c.PostOrder()) {
      if (!MayCommunicate(*i) || (IsTransfer(*i) && i->opcode() != Opcode::kSendDone)) continue;
      if (IsTransfer(*i)) {
        const auto other = channels_.find(ChannelOf(*i));
        if (other == channels_.end() ||
            (other->second.is_pipelined && other->second.child.computation == &c))
          continue;
        Before(RegionOf(other->second, &c).last, region.first);
        continue;
      }
      Before(i, region.first);
    }
  }

  // Other communication before the chain or after it: after, where it needs the chain's begin.
  void OrderAround(Computation& c, const Channel& channel) {
    const Region region = RegionOf(channel, &c);
    const Chain* chain = channel.In(&c);
    if (channel.partner != nullptr && channel.stream == 0) return;  // its partner does
    bool is_behind = false;
    for (Instruction* i : c.PostOrder()) {
      is_behind |= i == region.first;
      if (IsTransfer(*i)) {
        const auto other = channels_.find(ChannelOf(*i));
        if (other == channels_.end() || other->second.In(&c) == nullptr ||
            (other->second.is_pipelined && other->second.child.computation == &c))
          continue;
        const Region next = RegionOf(other->second, &c);
        // Each pair of chains once, when the later one's begin is met.
        if (next.first != i || next.first == region.first || !is_behind) continue;
        if (Needs(next.last, {region.first}))
          Before(region.last, next.first);
        else
          Before(next.last, region.first);
        continue;
      }
      if (!MayCommunicate(*i) || i == chain->loop) continue;
      const bool is_done = HasTrait(i->opcode(), kAsyncDone);
      if (Needs(i, {region.first}))
        Before(region.last, is_done ? i->operand(0) : i);
      else
        Before(i, region.first);
    }
  }

  Module& module_;
  std::vector<bool> runs_collectives_;   // by computation id
  std::map<int64_t, Channel> channels_;  // by number; addresses are stable
  bool changed_ = false;                 // an edge was added
};

absl::StatusOr<bool> PrepareSchedule(Module& module) { return Orderer(module).Run(); }

}  // namespace

// latency-hiding-scheduler-preparation: control dependences order the send, the receive and their
// dones of each channel between devices, and put other collectives before or after them, so that no
// schedule makes devices wait for each other. Values stay as they were. Cost: quadratic in what
// communicates.
std::unique_ptr<Pass> CreateLatencyHidingSchedulerPreparation() {
  return MakeModulePass("latency-hiding-scheduler-preparation", PrepareSchedule);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
