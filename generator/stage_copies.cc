// Copies between instructions, as layout assignment and memory space assignment put them, and the
// bitcasts that read an array's bytes as another type.
//
//   b = u4[3,2,4] bitcast-convert(u16[3,2] x)   ->   b = u4[3,2,4] bitcast(x), of arrays in
//   row-major order
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

void ReadBitsInPlace(Module& module, Random& random) {
  for (Computation* c : ExecutedComputations(module))
    for (Instruction* i : c->Instructions()) {
      if (i->opcode() != Opcode::kBitcastConvert || !random.Chance(0.7)) continue;
      const Shape &from = i->operand(0)->shape(), &to = i->shape();
      if (!from.IsRowMajor() || !to.IsRowMajor() || from.dynamic_mask != 0 ||
          !i->control_predecessors().empty() || !i->control_successors().empty())
        continue;
      i->ReplaceAllUsesWith(c->Add(Opcode::kBitcast, to, {i->operand(0)}));
      c->Remove(i);
    }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
