// Lists of instructions in an order of execution.
#include "passes/scheduling/schedulers.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "support/dense_map.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

using Order = std::vector<Instruction*>;

// What `i` keeps in memory of its own.
int64_t OwnBytes(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
      return 0;
    default:
      return TotalBytes(i->shape());
  }
}

// Bytes alive at the worst moment: each array from its own time to its last reader's.
int64_t Peak(const Order& order) {
  DenseMap<int64_t> last(-1);
  for (size_t t = 0; t < order.size(); ++t)
    for (const Instruction* operand : order[t]->operands())
      last[operand->id()] = static_cast<int64_t>(t);
  std::vector<int64_t> freed(order.size(), 0);
  for (const Instruction* i : order)
    if (last.at(i->id()) >= 0 && !i->IsRoot()) freed[last.at(i->id())] += OwnBytes(i);
  int64_t alive = 0, peak = 0;
  for (size_t t = 0; t < order.size(); ++t) {
    alive += OwnBytes(order[t]);
    peak = std::max(peak, alive);
    alive -= freed[t];
  }
  return peak;
}

// Depth first from the root and what has no users, of the operands the one that needs most first.
Order GreedyOrder(const Computation& c) {
  const Order base = c.PostOrder();
  DenseMap<int64_t> need(0);  // at most so many bytes while it is computed; operands counted apart
  for (const Instruction* i : base) {
    int64_t worst = OwnBytes(i);
    for (const Instruction* operand : i->operands())
      worst = std::max(worst, need.at(operand->id()));
    need[i->id()] = worst;
  }
  Order order, stack;
  DenseMap<char> state(0);  // 1: open, 2: done
  for (size_t k = base.size(); k-- > 0;)
    if (base[k]->users().empty()) stack.push_back(base[k]);
  while (!stack.empty()) {
    Instruction* top = stack.back();
    if (state.at(top->id()) != 0) {
      stack.pop_back();
      if (state.at(top->id()) == 1) order.push_back(top);
      state[top->id()] = 2;
      continue;
    }
    state[top->id()] = 1;
    Order next(top->operands().begin(), top->operands().end());
    next.insert(next.end(), top->control_predecessors().begin(), top->control_predecessors().end());
    std::stable_sort(next.begin(), next.end(), [&](const Instruction* a, const Instruction* b) {
      return need.at(a->id()) < need.at(b->id());
    });
    for (Instruction* i : next)
      if (state.at(i->id()) == 0) stack.push_back(i);
  }
  return order;
}

Order TrivialOrder(const Computation& c) { return c.PostOrder(); }

Order MemoryOrder(const Computation& c) {
  Order plain = c.PostOrder(), greedy = GreedyOrder(c);
  return greedy.size() == plain.size() && Peak(greedy) < Peak(plain) ? greedy : plain;
}

// Parameters by number, constants, the rest.
Order Hoisted(const Computation& c) {
  Order order(c.schedule().begin(), c.schedule().end());
  std::stable_sort(order.begin(), order.end(), [](const Instruction* a, const Instruction* b) {
    const auto rank = [](const Instruction* i) {
      if (i->IsParameter()) return i->parameter_number() - (int64_t{1} << 40);
      return int64_t{i->IsConstant() && i->control_predecessors().empty() ? 0 : 1};
    };
    return rank(a) < rank(b);
  });
  return order;
}

Order RootLast(const Computation& c) {
  Order order(c.schedule().begin(), c.schedule().end());
  if (!c.root()->users().empty() || !c.root()->control_successors().empty()) return order;
  std::erase(order, c.root());
  order.push_back(c.root());
  return order;
}

Order Deferred(const Computation& c) {
  Order order;
  absl::flat_hash_set<const Instruction*> waiting;
  for (Instruction* i : c.schedule()) {
    const bool waits = i->IsConstant() && !i->users().empty() && !i->IsRoot() &&
                       i->control_predecessors().empty() && i->control_successors().empty();
    if (waits) {
      waiting.insert(i);
      continue;
    }
    for (Instruction* operand : i->operands())
      if (waiting.erase(operand) > 0) order.push_back(operand);
    order.push_back(i);
  }
  return order;
}

// A pass that gives computations a new order: of all that run, or of those that have one.
class Scheduler final : public Pass {
 public:
  Scheduler(absl::string_view name, Order (*order)(const Computation&), bool makes)
      : name_(name), order_(order), makes_(makes) {}
  absl::string_view name() const override { return name_; }
  bool handles_schedules() const override { return true; }

  absl::StatusOr<bool> Run(Module& module) override {
    if (!makes_ && !module.header().is_scheduled) return false;
    bool changed = makes_ && !module.header().is_scheduled;
    const std::vector<bool> running = RunningComputations(module);
    for (Computation* c : module.Computations()) {
      if (makes_ ? !running[c->id()] : !c->has_schedule()) continue;
      Order order = order_(*c);
      const bool same = c->has_schedule() && std::equal(order.begin(), order.end(),
                                                        c->schedule().begin(), c->schedule().end());
      if (same) continue;
      c->set_schedule(std::move(order));
      changed = true;
    }
    module.header().is_scheduled = true;
    return changed;
  }

 private:
  absl::string_view name_;
  Order (*order_)(const Computation&);
  bool makes_;
};

class Descheduler final : public Pass {
 public:
  absl::string_view name() const override { return "hlo-descheduler"; }
  bool handles_schedules() const override { return true; }
  absl::StatusOr<bool> Run(Module& module) override {
    bool changed = module.header().is_scheduled;
    module.header().is_scheduled = false;
    for (Computation* c : module.Computations()) {
      changed |= c->has_schedule();
      c->clear_schedule();
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> CreateHloTrivialScheduler() {
  return std::make_unique<Scheduler>("hlo-trivial-scheduler", TrivialOrder, /*makes=*/true);
}

std::unique_ptr<Pass> CreateHloMemoryScheduler() {
  return std::make_unique<Scheduler>("hlo-memory-scheduler", MemoryOrder, /*makes=*/true);
}

std::unique_ptr<Pass> CreateHloDescheduler() { return std::make_unique<Descheduler>(); }

std::unique_ptr<Pass> CreateInstructionHoister() {
  return std::make_unique<Scheduler>("instruction-hoister", Hoisted, /*makes=*/false);
}

std::unique_ptr<Pass> CreateRootInstructionSinker() {
  return std::make_unique<Scheduler>("root-instruction-sinker", RootLast, /*makes=*/false);
}

std::unique_ptr<Pass> CreateConstantDeferring() {
  return std::make_unique<Scheduler>("constant-deferring", Deferred, /*makes=*/false);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
