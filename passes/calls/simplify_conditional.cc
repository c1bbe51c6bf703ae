// simplify-conditional: replaces conditionals on constants with calls.
// Matches conditionals on a constant; leaves a call of the branch taken, for call-inliner. Parts of
// a conditional's result that nobody reads leave its tuple, and parts that a branch does not read
// leave what it takes. Cost: linear; the size of branches that have other callers too, which are
// copied.
//   conditional(true, a, b), {f, g}  ->  f(a)
#include <algorithm>
#include <optional>
#include <vector>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

// The branch that the constant chooses; an index out of range takes the last.
int64_t BranchTaken(const Instruction* conditional, int64_t index) {
  const auto branches = static_cast<int64_t>(conditional->called().size());
  if (IsPred(conditional->operand(0)->shape().type)) return index != 0 ? 0 : 1;
  return index < 0 || index >= branches ? branches - 1 : index;
}

// The parts of the result that are read; nothing where it is no tuple, or read as a whole.
std::optional<std::vector<bool>> PartsRead(const Instruction* conditional) {
  if (!conditional->shape().IsTuple() || conditional->IsRoot() || HasControlEdges(*conditional))
    return std::nullopt;
  std::vector<bool> read(conditional->shape().elements.size(), false);
  for (const Instruction* user : conditional->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return std::nullopt;
    read[user->tuple_index()] = true;
  }
  return read;
}

// The branch with those parts of its result alone.
Computation* WithParts(Computation* branch, const std::vector<bool>& kept, bool copy) {
  if (copy) branch = branch->Clone(".clone");
  Instruction* root = branch->root();
  std::vector<Instruction*> parts;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < kept.size(); ++k) {
    if (!kept[k]) continue;
    shapes.push_back(root->shape().elements[k]);
    parts.push_back(root->opcode() == Opcode::kTuple
                        ? root->operand(k)
                        : branch->Add(Opcode::kGetTupleElement, shapes.back(), {root},
                                      GetTupleElementAttrs{static_cast<int64_t>(k)}));
  }
  branch->clear_schedule();
  branch->set_root(branch->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts));
  RemoveDead(*branch);
  return branch;
}

// Takes the parts that nobody reads out of the result; true if there were any. What has none left
// is dce's.
bool Narrow(Instruction* i, const std::vector<int>& callers) {
  const auto read = PartsRead(i);
  if (!read || std::count(read->begin(), read->end(), true) == 0 ||
      std::count(read->begin(), read->end(), false) == 0)
    return false;
  std::vector<Computation*> branches;
  for (Computation* branch : i->called()) {
    const bool shared = branch->id() >= static_cast<int64_t>(callers.size()) ||
                        callers[branch->id()] > 1 ||
                        std::count(i->called().begin(), i->called().end(), branch) > 1;
    branches.push_back(WithParts(branch, *read, shared));
  }
  std::vector<Shape> shapes;
  for (size_t k = 0; k < read->size(); ++k)
    if ((*read)[k]) shapes.push_back(i->shape().elements[k]);
  i->set_shape(Shape::Tuple(std::move(shapes)));
  i->set_called(std::move(branches));
  if (i->HasExtras()) i->mutable_extras().sharding.reset();
  for (Instruction* user : i->users()) {
    int64_t& index = user->mutable_attr<GetTupleElementAttrs>().index;
    index = std::count(read->begin(), read->begin() + index, true);
  }
  return true;
}

// The parts of what the branch takes that it reads; nothing where it reads it as a whole.
std::optional<std::vector<bool>> PartsTaken(const Computation* branch) {
  const Instruction* parameter = branch->parameter(0);
  if (!parameter->shape().IsTuple() || parameter->IsRoot()) return std::nullopt;
  std::vector<bool> read(parameter->shape().elements.size(), false);
  for (const Instruction* user : parameter->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return std::nullopt;
    read[user->tuple_index()] = true;
  }
  return read;
}

// Takes the parts that branch `b` does not read out of what it takes.
bool NarrowOperand(Instruction* i, int64_t b, const std::vector<int>& callers) {
  Computation* branch = i->called(b);
  const auto read = PartsTaken(branch);
  if (!read || std::count(read->begin(), read->end(), false) == 0) return false;
  const bool shared = branch->id() >= static_cast<int64_t>(callers.size()) ||
                      callers[branch->id()] > 1 ||
                      std::count(i->called().begin(), i->called().end(), branch) > 1;
  if (shared) branch = branch->Clone(".clone");
  branch->clear_schedule();
  i->SetCalled(b, branch);
  Computation& outer = *i->parent();
  Instruction* given = i->operand(b + 1);
  std::vector<Instruction*> parts;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < read->size(); ++k) {
    if (!(*read)[k]) continue;
    shapes.push_back(given->shape().elements[k]);
    parts.push_back(given->opcode() == Opcode::kTuple
                        ? given->operand(k)
                        : outer.Add(Opcode::kGetTupleElement, shapes.back(), {given},
                                    GetTupleElementAttrs{static_cast<int64_t>(k)}));
  }
  i->SetOperand(b + 1, outer.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts));
  Instruction* parameter = branch->parameter(0);
  std::vector<Shape> taken;
  for (size_t k = 0; k < read->size(); ++k)
    if ((*read)[k]) taken.push_back(parameter->shape().elements[k]);
  parameter->set_shape(Shape::Tuple(std::move(taken)));
  if (parameter->HasExtras()) parameter->mutable_extras().sharding.reset();
  for (Instruction* user : parameter->users()) {
    int64_t& index = user->mutable_attr<GetTupleElementAttrs>().index;
    index = std::count(read->begin(), read->begin() + index, true);
  }
  outer.RemoveIfDead(given);
  return true;
}

bool Simplify(Computation& computation, const std::vector<int>& callers) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() != Opcode::kConditional) continue;
    if (!i->operand(0)->IsConstant()) {
      changed |= Narrow(i, callers);
      for (int64_t b = 0; b < static_cast<int64_t>(i->called().size()); ++b)
        changed |= NarrowOperand(i, b, callers);
      continue;
    }
    const Literal* choice = i->operand(0)->literal();
    if (choice == nullptr || HasControlEdges(*i)) continue;
    const int64_t taken = BranchTaken(i, choice->GetInt(0));
    auto call = std::make_unique<Instruction>(
        Opcode::kCall, i->shape(),
        absl::Span<Instruction* const>{i->operands().subspan(1 + taken, 1)});
    call->set_called({i->called(taken)});
    call->CopyExtrasFrom(*i);
    i->ReplaceAllUsesWith(computation.Add(std::move(call), i->name()));
    computation.Remove(i);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> SimplifyConditionals(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  const std::vector<bool> runs = RunningComputations(module);
  for (Computation* c : module.ComputationsPostOrder())
    if (static_cast<size_t>(c->id()) < runs.size() && runs[c->id()])
      changed |= Simplify(*c, callers);
  if (changed) RemoveUncalled(module);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateSimplifyConditional() {
  return MakeModulePass("simplify-conditional", SimplifyConditionals);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
