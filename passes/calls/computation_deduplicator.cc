// Merges equal computations: candidates share a structural hash and are then compared in full.
// Callees come first, so that callers of merged computations become equal too. Near linear.
#include "passes/calls/computation_deduplicator.h"

#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "analysis/structural_hash.h"
#include "passes/cleanup/cse.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

// What every computation is replaced by: itself, or the first that is equal.
using Twins = absl::flat_hash_map<const Computation*, Computation*>;

bool UseTwins(Computation& c, const Twins& twins, bool calls_only) {
  bool changed = false;
  for (Instruction* i : c.Instructions()) {
    if (calls_only && i->opcode() != Opcode::kCall) continue;
    if (i->opcode() == Opcode::kFusion) continue;  // each has a body of its own
    for (size_t k = 0; k < i->called().size(); ++k) {
      const auto found = twins.find(i->called(k));
      if (found == twins.end() || found->second == i->called(k)) continue;
      i->SetCalled(k, found->second);
      changed = true;
    }
  }
  return changed;
}

// Passes change a fusion's body in place, so nothing else is to call it.
absl::flat_hash_set<const Computation*> FusedBodies(const Module& module) {
  absl::flat_hash_set<const Computation*> bodies;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->opcode() == Opcode::kFusion) bodies.insert(i->to_apply());
  return bodies;
}

absl::StatusOr<bool> Share(Module& module, bool calls_only) {
  const std::vector<uint64_t> hashes = StructuralHashes(module);
  const absl::flat_hash_set<const Computation*> fused = FusedBodies(module);
  absl::flat_hash_map<uint64_t, std::vector<Computation*>> by_hash;
  Twins twins;
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder()) {
    changed |= UseTwins(*c, twins, calls_only);
    if (c->IsEntry() || fused.contains(c)) continue;
    std::vector<Computation*>& alike =
        by_hash[absl::HashOf(hashes[c->root()->id()], c->instruction_count())];
    for (Computation* first : alike)
      if (first->execution_thread() == c->execution_thread() &&
          first->has_schedule() == c->has_schedule() &&
          SameComputation(first, c, std::numeric_limits<int64_t>::max()))
        twins[c] = first;
    if (!twins.contains(c)) alike.push_back(c);
  }
  if (changed) RemoveUncalled(module);
  return changed;
}

absl::StatusOr<bool> ShareAll(Module& module) { return Share(module, /*calls_only=*/false); }
absl::StatusOr<bool> ShareCalls(Module& module) { return Share(module, /*calls_only=*/true); }

}  // namespace

std::unique_ptr<Pass> CreateComputationDeduplicator() {
  return MakeModulePass("computation-deduplicator", ShareAll);
}

std::unique_ptr<Pass> CreateUnflattenCallGraph() {
  return MakeModulePass("unflatten-call-graph", ShareCalls);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
