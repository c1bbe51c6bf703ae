// call-parameter-cleanup: removes unused parameters of calls and results that only pass a parameter
// through.
// Matches calls of computations with this one caller that take parameters which nothing reads, or
// give back one of their arguments. Leaves a call without the parameters, and the argument for
// those who read what was given back. Cost: linear.
//   call(a, b), f(p0, p1) = p0 + 1  ->  call(a), f(p0) = p0 + 1
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/parameters.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

bool ForwardArguments(Instruction* call) {
  const Instruction* root = call->to_apply()->root();
  if (root->opcode() != Opcode::kTuple) return false;
  bool changed = false;
  const std::vector<Instruction*> users(call->users().begin(), call->users().end());
  for (Instruction* user : users) {
    if (user->opcode() != Opcode::kGetTupleElement) continue;
    const Instruction* given = root->operand(user->tuple_index());
    if (!given->IsParameter()) continue;
    Instruction* argument = call->operand(given->parameter_number());
    if (argument->shape() != user->shape() || (user->users().empty() && !user->IsRoot())) continue;
    user->ReplaceAllUsesWith(argument);
    changed = true;
  }
  return changed;
}

bool DropUnread(Instruction* call) {
  bool changed = false;
  Computation& callee = *call->to_apply();
  for (int64_t k = callee.parameter_count(); k-- > 0;) {
    const Instruction* parameter = callee.parameter(k);
    if (!parameter->users().empty() || parameter->IsRoot()) continue;
    RemoveParameter(callee, k);
    call->RemoveOperand(k);
    changed = true;
  }
  return changed;
}

// What the call gives without being changed leaves its result; who reads the result as a whole
// reads a tuple of the arguments and of what the call gives still.
bool DropArguments(Instruction* call) {
  Computation& callee = *call->to_apply();
  Instruction* root = callee.root();
  if (root->opcode() != Opcode::kTuple || !root->users().empty()) return false;
  std::vector<Instruction*> kept, parts;
  std::vector<Shape> shapes;
  for (Instruction* part : root->operands()) {
    const bool given =
        part->IsParameter() && call->operand(part->parameter_number())->shape() == part->shape();
    if (given) continue;
    kept.push_back(part);
    shapes.push_back(part->shape());
  }
  if (kept.size() == static_cast<size_t>(root->operand_count())) return false;
  const Shape narrow = Shape::Tuple(std::move(shapes));
  callee.set_root(callee.Add(Opcode::kTuple, narrow, kept));
  Computation& c = *call->parent();
  Instruction* made = c.Add(call->CloneWith(narrow, call->operands()));
  if (made->HasExtras()) made->mutable_extras().sharding.reset();
  int64_t next = 0;
  for (const Instruction* part : root->operands()) {
    const bool given = std::find(kept.begin(), kept.end(), part) == kept.end();
    parts.push_back(given ? call->operand(part->parameter_number())
                          : c.Add(Opcode::kGetTupleElement, part->shape(), {made},
                                  GetTupleElementAttrs{next++}));
  }
  call->ReplaceAllUsesWith(c.Add(Opcode::kTuple, call->shape(), parts));
  callee.Remove(root);
  c.Remove(call);
  DropUnread(made);
  return true;
}

absl::StatusOr<bool> CleanUpParameters(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      if (i->opcode() != Opcode::kCall) continue;
      changed |= ForwardArguments(i);
      if (callers[i->to_apply()->id()] != 1) continue;
      changed |= DropUnread(i);
      const bool plain = !HasControlEdges(*i);
      if (plain) changed |= DropArguments(i);
    }
  if (changed)
    for (Computation* c : module.Computations()) RemoveDead(*c);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateCallParameterCleanup() {
  return MakeModulePass("call-parameter-cleanup", CleanUpParameters);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
