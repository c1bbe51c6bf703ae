// rematerialization: recomputes values instead of keeping them, to stay below a memory limit.
// While more than `limit` bytes are live at one time in a computation, in the order of its text, a
// value that is live there only for later users is computed again for them, just before the first
// (a control dependency keeps it there), where that is cheap (elementwise operations, broadcasts,
// iotas, data movement) and its operands are live anyway.
//   a = exp(x); f(a); ...; g(a)   ->   a = exp(x); f(a); ...; a2 = exp(x); g(a2)
// Exact. Cost: the size of the computation for each value.
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "types/shape_bytes.h"

#include <algorithm>

namespace hlokit {
namespace {

constexpr int kMaxRounds = 1000;

bool IsCheap(const Instruction* i) {
  const bool computes = HasTrait(i->opcode(), kElementwise) || HasTrait(i->opcode(), kMovesData) ||
                        i->opcode() == Opcode::kIota;
  return computes && i->opcode() != Opcode::kBitcast && i->shape().IsArray() && !i->IsRoot() &&
         !HasControlEdges(*i);
}

// When each instruction of an order is made and read last.
struct Lives {
  explicit Lives(const Computation& c)
      : order(c.PostOrder()), made(c.module()->id_bound(), -1), last(made) {
    for (int64_t k = 0; k < static_cast<int64_t>(order.size()); ++k) {
      made[order[k]->id()] = last[order[k]->id()] = k;
      for (const Instruction* operand : order[k]->operands()) last[operand->id()] = k;
    }
    last[c.root()->id()] = order.size();
    for (const Instruction* parameter : c.parameters()) last[parameter->id()] = order.size();
  }

  // Live bytes at each time.
  std::vector<int64_t> Alive() const {
    std::vector<int64_t> alive(order.size() + 2, 0);
    for (const Instruction* i : order) {
      alive[made[i->id()]] += TotalBytes(i->shape());
      alive[last[i->id()] + 1] -= TotalBytes(i->shape());
    }
    for (size_t k = 1; k < alive.size(); ++k) alive[k] += alive[k - 1];
    return alive;
  }

  // Bytes above the limit, over all times.
  int64_t Excess(int64_t limit) const {
    int64_t excess = 0;
    for (int64_t bytes : Alive()) excess += std::max<int64_t>(0, bytes - limit);
    return excess;
  }

  std::vector<Instruction*> order;
  std::vector<int64_t> made, last;
};

// The largest value that is live at `time` for later users only, and cheap to make again from what
// lives as long.
Instruction* BestAt(const Lives& lives, int64_t time) {
  Instruction* best = nullptr;
  for (Instruction* i : lives.order) {
    if (!IsCheap(i) || lives.made[i->id()] >= time || lives.last[i->id()] <= time) continue;
    if (best != nullptr && TotalBytes(i->shape()) <= TotalBytes(best->shape())) continue;
    bool read_now = false, kept = true;
    for (const Instruction* user : i->users()) read_now |= lives.made[user->id()] == time;
    for (const Instruction* operand : i->operands())
      kept &= lives.last[operand->id()] >= lives.last[i->id()] || operand->IsConstant();
    if (!read_now && kept) best = i;
  }
  return best;
}

class Rematerialization final : public ComputationPass {
 public:
  explicit Rematerialization(int64_t limit) : limit_(limit) {}
  absl::string_view name() const override { return "rematerialization"; }

  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    for (int round = 0; round < kMaxRounds; ++round) {
      const Lives lives(c);
      const int64_t excess = lives.Excess(limit_);
      if (excess == 0 || !Improve(c, lives)) break;
      changed = true;
      if (Lives(c).Excess(limit_) >= excess) break;
    }
    return changed;
  }

 private:
  // Splits the life of one value that is live above the limit.
  bool Improve(Computation& c, const Lives& lives) {
    const std::vector<int64_t> alive = lives.Alive();
    for (int64_t time = 0; time < static_cast<int64_t>(lives.order.size()); ++time) {
      if (alive[time] <= limit_) continue;
      Instruction* i = BestAt(lives, time);
      if (i != nullptr) return MakeAgain(c, lives, i, time);
    }
    return false;
  }

  bool MakeAgain(Computation& c, const Lives& lives, Instruction* i, int64_t time) {
    const std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
    Instruction* again = c.Add(i->CloneWith(i->shape(), operands));
    if (!control().Permit(name(), *i, *again)) {
      c.Remove(again);
      return false;
    }
    int64_t next = lives.order.size();
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    for (Instruction* user : users) {
      if (lives.made[user->id()] <= time) continue;
      next = std::min(next, lives.made[user->id()]);
      i->ReplaceUseIn(user, again);
    }
    // As late as its first reader allows: after the last work before that.
    while (--next > time && lives.order[next]->operands().empty()) continue;
    if (next > time) again->AddControlPredecessor(lives.order[next]);
    c.RemoveIfDead(i);
    return true;
  }

  int64_t limit_;
};

}  // namespace

std::unique_ptr<Pass> CreateRematerialization(PassArguments& arguments) {
  return std::make_unique<Rematerialization>(
      arguments.Int("limit", int64_t{1} << 40, "bytes that may be alive at once"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
