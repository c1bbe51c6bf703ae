// latency-hiding-scheduler: schedules asynchronous starts early and dones late, to overlap
// communication with computation.
// Gives every computation that runs on its own, and those that functions call, a schedule: starts
// of transfers (all-reduce-start, copy-start, send, ...) come as soon as they can, with what they
// need before them, dones as late as possible; all else keeps the order of the text. Cost: linear
// in the size of a computation times its number of starts. The module is scheduled afterwards.
//
// List scheduling around asynchronous pairs.
#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "passes/framework/pass.h"

namespace hlokit {
namespace {

// What goes first among the instructions that are ready.
enum class Urgency { kStart, kForStart, kOther, kDone };

bool IsStart(const Instruction* i) { return HasTrait(i->opcode(), kAsyncStart); }
bool IsDone(const Instruction* i) { return HasTrait(i->opcode(), kAsyncDone); }

// Instructions that a start needs, dones and what hangs on them left out.
absl::flat_hash_set<const Instruction*> NeededByStarts(absl::Span<Instruction* const> order) {
  absl::flat_hash_set<const Instruction*> needed;
  std::vector<const Instruction*> work;
  for (const Instruction* i : order)
    if (IsStart(i)) work.push_back(i);
  while (!work.empty()) {
    const Instruction* next = work.back();
    work.pop_back();
    for (auto before : {next->operands(), next->control_predecessors()})
      for (const Instruction* operand : before)
        if (!IsDone(operand) && needed.insert(operand).second) work.push_back(operand);
  }
  return needed;
}

std::vector<Instruction*> Scheduled(const Computation& c) {
  const std::vector<Instruction*> order = c.PostOrder();
  const absl::flat_hash_set<const Instruction*> needed = NeededByStarts(order);
  absl::flat_hash_map<const Instruction*, size_t> places;  // in `order`
  for (size_t k = 0; k < order.size(); ++k) places[order[k]] = k;
  std::vector<int64_t> waits(order.size(), 0);
  std::vector<std::vector<size_t>> frees(order.size());
  std::map<std::pair<Urgency, size_t>, Instruction*> ready;
  auto urgency = [&](const Instruction* i) {
    if (IsStart(i)) return Urgency::kStart;
    if (IsDone(i)) return Urgency::kDone;
    return needed.contains(i) ? Urgency::kForStart : Urgency::kOther;
  };
  for (size_t k = 0; k < order.size(); ++k) {
    for (auto before : {order[k]->operands(), order[k]->control_predecessors()})
      for (const Instruction* operand : before) {
        frees[places.at(operand)].push_back(k);
        ++waits[k];
      }
    if (waits[k] == 0) ready[{urgency(order[k]), k}] = order[k];
  }
  std::vector<Instruction*> schedule;
  while (!ready.empty()) {
    Instruction* next = ready.begin()->second;
    ready.erase(ready.begin());
    schedule.push_back(next);
    for (size_t k : frees[places.at(next)])
      if (--waits[k] == 0) ready[{urgency(order[k]), k}] = order[k];
  }
  return schedule;
}

class LatencyHidingScheduler final : public Pass {
 public:
  absl::string_view name() const override { return "latency-hiding-scheduler"; }
  bool handles_schedules() const override { return true; }

  absl::StatusOr<bool> Run(Module& module) override {
    bool changed = !module.header().is_scheduled;
    for (Computation* c : module.ComputationsPostOrder()) {
      std::vector<Instruction*> schedule = Scheduled(*c);
      changed |= schedule != c->ScheduleOrPostOrder();
      c->set_schedule(std::move(schedule));
    }
    module.header().is_scheduled = true;
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> CreateLatencyHidingScheduler() {
  return std::make_unique<LatencyHidingScheduler>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
