// Schedules: a random order of each computation, operands first, and control edges along it.
#include <algorithm>

#include "generator/stages_internal.h"
#include "ops/infer/op_table.h"
#include "support/dense_map.h"

namespace hlokit {
namespace {

// How eagerly an instruction that could run is taken: starts at once and dones late, so that pairs
// lie apart, as latency hiding leaves them.
int Eagerness(const Instruction& i) {
  if (HasTrait(i.opcode(), kAsyncStart)) return 2;
  return HasTrait(i.opcode(), kAsyncDone) ? 0 : 1;
}

Instruction* TakeReady(std::vector<Instruction*>& ready, Random& random) {
  size_t best = random.Between(0, static_cast<int64_t>(ready.size()) - 1);
  for (int tries = 0; tries < 3; ++tries) {
    const size_t other = random.Between(0, static_cast<int64_t>(ready.size()) - 1);
    if (Eagerness(*ready[other]) > Eagerness(*ready[best])) best = other;
  }
  Instruction* taken = ready[best];
  ready[best] = ready.back();
  ready.pop_back();
  return taken;
}

std::vector<Instruction*> RandomOrder(const Computation& c, Random& random) {
  DenseMap<int64_t> waits_for;
  std::vector<Instruction*> ready, order;
  c.ForEach([&](Instruction* i) {
    std::vector<const Instruction*> before(i->operands().begin(), i->operands().end());
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    waits_for[i->id()] = static_cast<int64_t>(before.size() + i->control_predecessors().size());
    if (waits_for[i->id()] == 0) ready.push_back(i);
  });
  while (!ready.empty()) {
    Instruction* next = TakeReady(ready, random);
    order.push_back(next);
    const auto arrive = [&](Instruction* after) {
      if (--waits_for[after->id()] == 0) ready.push_back(after);
    };
    for (Instruction* user : next->users()) arrive(user);
    for (Instruction* after : next->control_successors()) arrive(after);
  }
  return order;
}

// Edges from earlier to later ones, which the order keeps anyway.
void AddControlEdges(absl::Span<Instruction* const> order, Random& random) {
  for (int64_t edges = random.Between(0, 3); edges > 0 && order.size() > 1; --edges) {
    const int64_t later = random.Between(1, static_cast<int64_t>(order.size()) - 1);
    Instruction* after = order[later];
    Instruction* before = order[random.Between(0, later - 1)];
    if (before->IsParameter() || after->IsParameter()) continue;
    after->AddControlPredecessor(before);
  }
}

}  // namespace

void ScheduleAtRandom(Module& module, Random& random) {
  for (Computation* c : ExecutedComputations(module)) {
    std::vector<Instruction*> order = RandomOrder(*c, random);
    AddControlEdges(order, random);
    c->set_schedule(std::move(order));
  }
  module.header().is_scheduled = true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
