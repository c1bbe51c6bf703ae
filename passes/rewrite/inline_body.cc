// Bodies, instruction by instruction.
#include "passes/rewrite/inline_body.h"

#include "absl/container/flat_hash_map.h"
#include "passes/rewrite/layout_copies.h"

namespace hlokit {
namespace {

// Whether the body reads the parameter however it lies: custom calls say themselves which order
// they want.
bool IsReadInAnyOrder(const Instruction* parameter) {
  if (parameter->IsRoot() || !parameter->shape().IsArray()) return false;
  for (const Instruction* user : parameter->users()) {
    const bool says_itself = user->opcode() == Opcode::kCustomCall &&
                             user->attr<CustomCallAttrs>().operand_layout_constraints.has_value();
    if (!says_itself && !HasTrait(user->opcode(), kLayoutInsensitive)) return false;
  }
  return true;
}

}  // namespace

Instruction* ArgumentFor(const Instruction* parameter, Instruction* argument) {
  std::vector<Instruction*> copies;
  return SameIgnoringLayout(argument->shape(), parameter->shape()) && !IsReadInAnyOrder(parameter)
             ? InLayoutOf(argument, parameter->shape(), copies)
             : argument;
}

Instruction* CopyBody(const Computation& body, absl::Span<Instruction* const> arguments,
                      Computation& into, std::vector<Instruction*>* made_list) {
  absl::flat_hash_map<const Instruction*, Instruction*> map;
  std::vector<Instruction*> operands;
  for (const Instruction* i : body.PostOrder()) {
    if (i->IsParameter()) {
      map[i] = ArgumentFor(i, arguments[i->parameter_number()]);
      continue;
    }
    operands.clear();
    for (const Instruction* operand : i->operands()) operands.push_back(map.at(operand));
    Instruction* made = into.Add(i->CloneWith(i->shape(), operands));
    if (made->opcode() == Opcode::kFusion) made->SetCalled(0, made->called(0)->Clone(".clone"));
    for (const Instruction* before : i->control_predecessors())
      if (!before->IsParameter()) made->AddControlPredecessor(map.at(before));
    if (made_list != nullptr) made_list->push_back(made);
    map[i] = made;
  }
  return map.at(body.root());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
