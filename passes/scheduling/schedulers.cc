// The passes that make, change and drop schedules: lists of instructions in an order of execution;
// the header says what each does.
//   p, a = exp(p), c = constant, r = add(a, c)   hlo-trivial-scheduler: p a c r
//   instruction-hoister: p c a r                 constant-deferring: p a c r
// hlo-memory-scheduler takes callees first, since a caller's peak holds theirs.
#include "passes/scheduling/schedulers.h"
#include "passes/rewrite/control_edges.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "passes/scheduling/memory_orders.h"

namespace hlokit {
namespace {

using Order = std::vector<Instruction*>;

Order TrivialOrder(const Computation& c) { return c.PostOrder(); }

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
    const bool waits =
        i->IsConstant() && !i->users().empty() && !i->IsRoot() && !HasControlEdges(*i);
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
      changed |= order != c->ScheduleOrPostOrder();
      c->set_schedule(std::move(order));
    }
    module.header().is_scheduled = true;
    return changed;
  }

 private:
  absl::string_view name_;
  Order (*order_)(const Computation&);
  bool makes_;
};

// Callees before callers, whose peaks hold theirs.
class MemoryScheduler final : public Pass {
 public:
  absl::string_view name() const override { return "hlo-memory-scheduler"; }
  bool handles_schedules() const override { return true; }

  absl::StatusOr<bool> Run(Module& module) override {
    bool changed = !module.header().is_scheduled;
    const std::vector<bool> running = RunningComputations(module);
    InnerPeaks peaks(module.computation_id_bound(), 0);
    for (Computation* c : module.ComputationsPostOrder()) {
      if (!running[c->id()]) continue;
      Order order = MemoryOrder(*c, peaks, peaks[c->id()]);
      changed |= order != c->ScheduleOrPostOrder();
      c->set_schedule(std::move(order));
    }
    module.header().is_scheduled = true;
    return changed;
  }
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

std::unique_ptr<Pass> CreateHloMemoryScheduler() { return std::make_unique<MemoryScheduler>(); }

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
