// Cycles among the instructions of a computation, and among computations that call each other.
//
// Both use Kahn's topological order: nodes without open dependencies are removed until none is
// left. What remains contains a cycle; following open dependencies for n steps ends on it. Linear,
// and without recursion, so that a chain of a million instructions does not overflow the stack.
#include "support/dense_map.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

// Takes away, again and again, the nodes that wait for nothing; returns a node of a cycle, or null
// where all went. waits_for(node, fn) and waiters(node, fn) call fn on each neighbour, as often on
// one side as on the other. `open` holds 0 for each node, and does again where there is no cycle.
template <typename Node, typename WaitsFor, typename Waiters>
const Node* FindCycle(const std::vector<const Node*>& nodes, DenseMap<int64_t>& open,
                      WaitsFor waits_for, Waiters waiters) {
  std::vector<const Node*> ready;
  for (const Node* node : nodes) {
    waits_for(*node, [&](const Node*) { ++open[node->id()]; });
    if (open[node->id()] == 0) ready.push_back(node);
  }
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    const Node* next = ready.back();
    ready.pop_back();
    waiters(*next, [&](const Node* waiter) {
      if (--open[waiter->id()] == 0) ready.push_back(waiter);
    });
  }
  if (done == nodes.size()) return nullptr;
  // Each node left waits for another one left: going that way must come round.
  const Node* at = nullptr;
  for (const Node* node : nodes)
    if (open[node->id()] > 0) at = node;
  for (size_t steps = 0; steps < nodes.size(); ++steps) {
    const Node* next = nullptr;
    waits_for(*at, [&](const Node* n) { next = open[n->id()] > 0 ? n : next; });
    at = next;
  }
  return at;
}

// [computation-c7] no instruction depends on itself. The tables, by instruction, serve all bodies.
void CheckBody(VerifyRun& run, const VerifyRun::Body& body, DenseMap<int64_t>& open,
               DenseMap<int64_t>& last) {
  const std::vector<const Instruction*> nodes(body.instructions.begin(), body.instructions.end());
  auto operands_once = [&](const Instruction& i, auto fn) {
    for (const Instruction* operand : i.operands()) {
      if (last[operand->id()] == i.id()) continue;
      last[operand->id()] = i.id();
      fn(operand);
    }
    for (const Instruction* operand : i.operands()) last[operand->id()] = -1;
    for (const Instruction* before : i.control_predecessors()) fn(before);
  };
  auto users = [](const Instruction& i, auto fn) {
    for (const Instruction* user : i.users()) fn(user);
    for (const Instruction* after : i.control_successors()) fn(after);
  };
  if (const Instruction* on_cycle = FindCycle<Instruction>(nodes, open, operands_once, users))
    run.Error(*on_cycle, "computation-c7", "%", on_cycle->name(), " depends on its own result");
}

// [module-c3] no computation calls itself, directly or through others.
void CheckCallGraph(VerifyRun& run) {
  const int64_t bound = run.module.computation_id_bound();
  std::vector<const Computation*> nodes;
  std::vector<std::vector<const Computation*>> callees(bound), callers(bound);
  for (const VerifyRun::Body& body : run.bodies) {
    nodes.push_back(body.computation);
    for (const Instruction* i : body.instructions)
      for (const Computation* called : i->called()) {
        callees[body.computation->id()].push_back(called);
        callers[called->id()].push_back(body.computation);
      }
  }
  auto walk = [](const std::vector<std::vector<const Computation*>>& edges) {
    return [&edges](const Computation& c, auto fn) {
      for (const Computation* next : edges[c.id()]) fn(next);
    };
  };
  DenseMap<int64_t> open(bound, 0);
  if (const Computation* on_cycle =
          FindCycle<Computation>(nodes, open, walk(callees), walk(callers)))
    run.out.Error(on_cycle->place(), "module-c3", "computation ", on_cycle->name(),
                  " calls itself");
}

}  // namespace

void CheckCycles(VerifyRun& run) {
  DenseMap<int64_t> open(run.module.id_bound(), 0), last(run.module.id_bound(), -1);
  for (const VerifyRun::Body& body : run.bodies) CheckBody(run, body, open, last);
  CheckCallGraph(run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
