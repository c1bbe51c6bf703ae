// Copies between instructions, as layout assignment and memory space assignment put them.
#include "generator/stages_internal.h"
#include "ops/infer/op_table.h"

namespace hlokit {
namespace {

// Operands that may be another instruction with the same value.
bool MayReadCopies(const Instruction& user) {
  return !HasTrait(user.opcode(), kAsyncStart) && !HasTrait(user.opcode(), kAsyncDone) &&
         !HasTrait(user.opcode(), kSideEffect) && user.opcode() != Opcode::kBitcast;
}

}  // namespace

void InsertCopies(Module& module, Random& random) {
  constexpr double kCopied = 0.08;
  for (Computation* c : ExecutedComputations(module))
    for (Instruction* user : c->Instructions()) {
      if (!MayReadCopies(*user)) continue;
      for (int64_t k = 0; k < user->operand_count(); ++k) {
        Instruction* operand = user->operand(k);
        if (!operand->shape().IsArray() || !random.Chance(kCopied)) continue;
        user->SetOperand(k, c->Add(Opcode::kCopy, operand->shape(), {operand}));
      }
    }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
