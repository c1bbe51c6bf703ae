// A walk from the callers to what they call.
//
// First the cost of one run of each computation, callees first; then how often each runs, callers
// first: a loop's body as often as its trip count says, its condition once more, each branch of a
// conditional as if it were taken.
//   entry runs 1: while of 10 trips -> body runs 10, condition 11; a call in the body -> 10
// Loops without a known trip count use a guess of the caller's, and their row says so.
// Cost: linear in the module.
#include "analysis/module_cost.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "analysis/buffer_assignment.h"
#include "analysis/live_memory.h"
#include "analysis/trip_count.h"
#include "analysis/value_flow.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

void Add(InstructionCost& sum, const InstructionCost& cost, double times) {
  sum.flops += cost.flops * times;
  sum.transcendentals += cost.transcendentals * times;
  sum.bytes += cost.bytes * times;
}

bool IsControlFlow(Opcode opcode) {
  return opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall ||
         opcode == Opcode::kAsyncStart;
}

class Walk {
 public:
  Walk(const Module& module, int64_t unknown_trips)
      : module_(module),
        unknown_trips_(unknown_trips),
        runs_(module.computation_id_bound()),
        whole_(module.computation_id_bound()) {}

  ModuleCosts Run() {
    std::vector<Computation*> order = module_.ComputationsPostOrder();
    for (const Computation* c : order) whole_[c->id()] = WholeCost(*c);
    runs_[module_.entry()->id()] = 1;
    std::reverse(order.begin(), order.end());  // callers first
    for (const Computation* c : order)
      if (runs_[c->id()] > 0) Visit(*c);
    return std::move(costs_);
  }

 private:
  int64_t Trips(const Instruction& loop) const {
    return KnownTripCount(loop).value_or(unknown_trips_);
  }

  // Calls fn(computation, times) for what one run of the instruction runs.
  template <typename Fn>
  void ForEachCall(const Instruction& i, Fn fn) const {
    if (!IsControlFlow(i.opcode())) return;
    const auto trips = i.opcode() == Opcode::kWhile ? static_cast<double>(Trips(i)) : 1.0;
    for (size_t c = 0; c < i.called().size(); ++c) {
      const bool condition = i.opcode() == Opcode::kWhile && c == 0;
      fn(*i.called(c), condition ? trips + 1 : trips);
    }
  }

  InstructionCost WholeCost(const Computation& computation) const {
    InstructionCost sum;
    for (const Instruction* i : computation.Instructions()) {
      if (!IsControlFlow(i->opcode())) Add(sum, CostOf(*i), 1);
      ForEachCall(*i, [&](const Computation& called, double times) {
        Add(sum, whole_[called.id()], times);
      });
    }
    return sum;
  }

  void Visit(const Computation& computation) {
    const double runs = runs_[computation.id()];
    for (const Instruction* i : computation.PostOrder()) {
      ForEachCall(
          *i, [&](const Computation& called, double times) { runs_[called.id()] += runs * times; });
      if (i->opcode() == Opcode::kWhile) AddLoop(*i, runs);
      InstructionRow row{i, runs, {}};
      Add(row.cost, CostOf(*i), runs);
      if (row.cost.flops == 0 && row.cost.bytes == 0) continue;
      Add(costs_.total, row.cost, 1);
      costs_.instructions.push_back(row);
    }
  }

  void AddLoop(const Instruction& loop, double runs) {
    LoopRow row{&loop, runs, Trips(loop), KnownTripCount(loop).has_value(), {}};
    ForEachCall(loop, [&](const Computation& called, double times) {
      Add(row.cost, whole_[called.id()], runs * times);
    });
    costs_.loops.push_back(row);
  }

  const Module& module_;
  const int64_t unknown_trips_;
  std::vector<double> runs_;            // of computations, by id
  std::vector<InstructionCost> whole_;  // of one run, what it calls included
  ModuleCosts costs_;
};

}  // namespace

ModuleCosts CostsOf(const Module& module, int64_t unknown_trips) {
  return Walk(module, unknown_trips).Run();
}

absl::StatusOr<PeakMemory> PeakMemoryOf(const Module& module) {
  ASSIGN_OR_RETURN(const BufferAssignment plan, BufferAssignment::Make(module));
  PeakMemory peak;
  for (const Instruction* parameter : module.entry()->parameters())
    peak.arguments += TotalBytes(parameter->shape());
  peak.results = TotalBytes(module.entry()->root()->shape());
  for (const Instruction* constant : plan.constants())
    peak.constants += TotalBytes(constant->shape());
  peak.temporaries = plan.live_peak();
  for (const BufferAssignment::LiveArray& array : plan.at_peak())
    peak.at_peak.push_back({array.maker, array.size, array.leaf});
  ASSIGN_OR_RETURN(const ValueFlow flow, ValueFlow::Make(module));
  const std::vector<LiveMemory> points = LiveMemoryOverTime(plan, flow);
  size_t next = 0;
  for (const Instruction* i : flow.order) {
    while (next + 1 < points.size() && points[next + 1].time <= flow.time[i->id()]) ++next;
    peak.over_time.push_back({i, points[next].bytes});
  }
  return peak;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
