// Removes tuples that are only decomposed or rebuilt:
//   get-tuple-element(tuple(a, b), 1) -> b
//   tuple(gte(t, 0), gte(t, 1)) -> t, if t has two elements
#include "passes/cleanup/tuple_simplifier.h"

#include "support/status.h"

namespace hlokit {
namespace {

// The tuple whose elements, all and in order, are the operands of `tuple`; null if there is none.
Instruction* Rebuilt(const Instruction* tuple) {
  Instruction* source = nullptr;
  for (int64_t k = 0; k < tuple->operand_count(); ++k) {
    const Instruction* part = tuple->operand(k);
    if (part->opcode() != Opcode::kGetTupleElement || part->tuple_index() != k) return nullptr;
    if (k == 0) source = part->operand(0);
    if (part->operand(0) != source) return nullptr;
  }
  return source != nullptr && source->shape() == tuple->shape() ? source : nullptr;
}

absl::StatusOr<bool> RunTupleSimplifier(Computation& computation) {
  return SimplifyTuples(computation);
}

}  // namespace

bool SimplifyTuples(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    Instruction* simpler = nullptr;
    if (i->opcode() == Opcode::kGetTupleElement && i->operand(0)->opcode() == Opcode::kTuple) {
      simpler = i->operand(0)->operand(i->tuple_index());
      if (simpler->shape() != i->shape()) simpler = nullptr;
    } else if (i->opcode() == Opcode::kTuple) {
      simpler = Rebuilt(i);
    }
    const bool used = !i->users().empty() || i->IsRoot();
    if (simpler == nullptr || !used) continue;
    i->ReplaceAllUsesWith(simpler);
    computation.RemoveIfDead(i);
    changed = true;
  }
  return changed;
}

std::unique_ptr<Pass> CreateTupleSimplifier() {
  return MakeComputationPass("tuple-simplifier", RunTupleSimplifier);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
