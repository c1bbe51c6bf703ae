// rematerialization: recomputes values instead of keeping them, to stay below a memory limit.
// While more than `limit` bytes are live at one time in a computation, in the order of its text, a
// value that is live there only for later users is computed again for them, just before the first
// (a control dependency keeps it there), where that is cheap (elementwise operations, broadcasts,
// iotas, data movement, loop fusions) and its operands are live anyway, or smaller. Bitcasts and
// parts of tuples are what they are of: they take no memory, their readers keep it alive, and they
// are made again with it.
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

// Whether it is the memory of its operand.
bool IsView(const Instruction* i) {
  return i->opcode() == Opcode::kBitcast || i->opcode() == Opcode::kGetTupleElement;
}

const Instruction* OwnerOf(const Instruction* i) {
  while (IsView(i)) i = i->operand(0);
  return i;
}

int64_t OwnBytes(const Instruction* i) { return IsView(i) ? 0 : TotalBytes(i->shape()); }

// Calls fn with each instruction that reads `i` or a view of it.
template <typename Fn>
void ForEachReader(const Instruction* i, Fn fn) {
  for (const Instruction* user : i->users()) {
    if (IsView(user))
      ForEachReader(user, fn);
    else
      fn(user);
  }
}

bool IsCheap(const Instruction* i) {
  if (i->opcode() == Opcode::kFusion)
    return i->attr<FusionAttrs>().kind == FusionKind::kLoop && !i->IsRoot() &&
           !i->HasSideEffect() && !HasControlEdges(*i);
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
      for (const Instruction* operand : order[k]->operands()) {
        last[operand->id()] = k;
        if (!IsView(order[k])) last[OwnerOf(operand)->id()] = k;
      }
    }
    last[c.root()->id()] = last[OwnerOf(c.root())->id()] = order.size();
    for (const Instruction* parameter : c.parameters()) last[parameter->id()] = order.size();
  }

  // Live bytes at each time.
  std::vector<int64_t> Alive() const {
    std::vector<int64_t> alive(order.size() + 2, 0);
    for (const Instruction* i : order) {
      alive[made[i->id()]] += OwnBytes(i);
      alive[last[i->id()] + 1] -= OwnBytes(i);
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
// lives as long or is smaller.
Instruction* BestAt(const Lives& lives, int64_t time) {
  Instruction* best = nullptr;
  for (Instruction* i : lives.order) {
    if (!IsCheap(i) || lives.made[i->id()] >= time || lives.last[i->id()] <= time) continue;
    if (best != nullptr && TotalBytes(i->shape()) <= TotalBytes(best->shape())) continue;
    bool read_now = false;
    int64_t longer = 0;  // bytes that would live longer
    ForEachReader(i, [&](const Instruction* user) { read_now |= lives.made[user->id()] == time; });
    for (const Instruction* operand : i->operands())
      if (!operand->IsConstant() && lives.last[OwnerOf(operand)->id()] < lives.last[i->id()])
        longer += OwnBytes(OwnerOf(operand));
    if (!read_now && longer < OwnBytes(i)) best = i;
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
    if (again->opcode() == Opcode::kFusion) again->SetCalled(0, i->to_apply()->Clone(".remat"));
    std::vector<bool> is_work;  // views of `i` may go
    for (const Instruction* one : lives.order)
      is_work.push_back(!one->operands().empty() && !IsView(one));
    int64_t next = lives.order.size();
    MoveReaders(lives, i, again, time, next);
    // As late as its first reader allows: after the last work before that.
    while (--next > time && !is_work[next]) continue;
    if (next > time) again->AddControlPredecessor(lives.order[next]);
    c.RemoveIfDead(i);
    return true;
  }

  // What reads `old` or a view of it after `time` reads `fresh`; `next` becomes the first of them.
  static void MoveReaders(const Lives& lives, Instruction* old, Instruction* fresh, int64_t time,
                          int64_t& next) {
    Computation& c = *old->parent();
    const std::vector<Instruction*> users(old->users().begin(), old->users().end());
    for (Instruction* user : users) {
      if (IsView(user)) {
        Instruction* view = c.Add(user->CloneWith(user->shape(), {fresh}));
        MoveReaders(lives, user, view, time, next);
        if (user->IsRoot()) c.set_root(view);
        if (view->users().empty() && !view->IsRoot()) c.Remove(view);
        if (user->users().empty() && !user->IsRoot()) c.Remove(user);
      } else if (lives.made[user->id()] > time) {
        next = std::min(next, lives.made[user->id()]);
        old->ReplaceUseIn(user, fresh);
      }
    }
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
