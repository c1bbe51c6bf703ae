// whole-graph-manual-pass: marks the whole module as manually sharded.
// Marks each instruction of computations that run on their own, and that has no sharding yet, as
// manual (of tuples, each part), so that a partitioner takes all of it as it is. Cost: linear.
//
// Manual shardings everywhere.
#include "passes/framework/pass.h"

namespace hlokit {
namespace {

// One for an array or token, one for each of them in a tuple.
Sharding ManualFor(const Shape& shape) {
  Sharding manual;
  manual.kind = Sharding::Kind::kManual;
  if (!shape.IsTuple()) return manual;
  Sharding tuple;
  tuple.kind = Sharding::Kind::kTuple;
  tuple.elements.assign(Leaves(shape).size(), manual);
  return tuple;
}

absl::StatusOr<bool> MakeManual(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.Instructions()) {
    if (i->sharding() != nullptr || (i->shape().IsTuple() && i->shape().elements.empty())) continue;
    i->mutable_extras().sharding = std::make_unique<Sharding>(ManualFor(i->shape()));
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateWholeGraphManual() {
  return MakeComputationPass("whole-graph-manual-pass", MakeManual);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
