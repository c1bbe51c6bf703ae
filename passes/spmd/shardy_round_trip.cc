// Shardy's dialect has functions without shared bodies, loops that read outer values freely and
// constants that are split among their users. A module that comes back from it shows all three,
// and the shardings that were found depend on them:
//   b = broadcast(3); d = dot(b, b)        b' = broadcast(3); d = dot(b, b'), b and b' cut each for
//                                          its side of the product
//   while (x, 32) whose body keeps 32      while (x), the body has the constant
//   f(x) over rows, f(y) over columns      f(x), f'(y); f' is f again where both are cut alike
// Each step is linear in the module but for the copies, which kMaxCopied bounds.
#include "passes/spmd/shardy_round_trip.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxCopied = 100'000;  // instructions; the copies of constants count too

bool RunsFunctions(const Instruction* i) {
  return i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kCall ||
         i->opcode() == Opcode::kConditional;
}

bool SameShardingAs(const Instruction* a, const Instruction* b) {
  if (a->sharding() == nullptr || b->sharding() == nullptr) return a->sharding() == b->sharding();
  return *a->sharding() == *b->sharding();
}

// A copy is the function itself but for names as long as nothing was added to either.
bool CutAlike(const Computation* copy, const Computation* first) {
  const auto x = copy->PostOrder(), y = first->PostOrder();
  if (x.size() != y.size()) return false;
  for (size_t k = 0; k < x.size(); ++k) {
    if (x[k]->opcode() != y[k]->opcode() || !SameShardingAs(x[k], y[k])) return false;
    if (x[k]->called().size() != y[k]->called().size()) return false;
    for (size_t c = 0; c < x[k]->called().size(); ++c)
      if (x[k]->called(c) != y[k]->called(c)) return false;
  }
  return true;
}

// Whether it is made of constants alone, where its operands in `constant` are. A scalar is never
// cut and may be shared.
bool IsMadeOfConstants(const Instruction& i,
                       const absl::flat_hash_set<const Instruction*>& constant) {
  if (i.IsConstant() || i.opcode() == Opcode::kIota) return true;
  const bool passes = HasTrait(i.opcode(), kElementwise) || i.opcode() == Opcode::kBroadcast ||
                      i.opcode() == Opcode::kReshape || i.opcode() == Opcode::kSlice;
  if (!passes || i.operand_count() == 0 || i.HasSideEffect()) return false;
  for (const Instruction* operand : i.operands())
    if (!constant.contains(operand)) return false;
  return true;
}

bool SplitIn(Computation* computation, int64_t& copied) {
  const auto order = computation->PostOrder();
  absl::flat_hash_set<const Instruction*> constant;
  for (const Instruction* i : order)
    if (i->sharding() == nullptr && i->shape().IsArray() && IsMadeOfConstants(*i, constant))
      constant.insert(i);
  bool changed = false;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {  // users before operands
    Instruction* i = *at;
    if (!constant.contains(i) || i->shape().rank() == 0) continue;
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    bool first = !i->IsRoot();  // the first use keeps the array
    for (Instruction* user : users)
      for (int64_t o = 0; o < user->operand_count(); ++o) {
        if (user->operand(o) != i) continue;
        if (std::exchange(first, false) || copied >= kMaxCopied) continue;
        user->SetOperand(o, computation->Add(i->CloneWith(i->shared_shape(), i->operands())));
        ++copied;
        changed = true;
      }
  }
  return changed;
}

}  // namespace

FunctionCopies SplitSharedFunctions(Module& module) {
  FunctionCopies copies;
  int64_t copied = 0;
  absl::flat_hash_set<const Computation*> taken = {module.entry()};
  std::vector<Computation*> work = {module.entry()};
  while (!work.empty()) {
    Computation* c = work.back();
    work.pop_back();
    for (Instruction* i : c->Instructions()) {
      if (!RunsFunctions(i)) continue;
      for (size_t k = 0; k < i->called().size(); ++k) {
        Computation* called = i->called(k);
        if (!taken.insert(called).second) {
          if (copied + called->instruction_count() > kMaxCopied) continue;
          copied += called->instruction_count();
          Computation* copy = called->Clone(".clone");
          copies.push_back({copy, called});
          i->SetCalled(k, copy);
          called = copy;
          taken.insert(copy);
        }
        work.push_back(called);
      }
    }
  }
  return copies;
}

void JoinEqualFunctions(Module& module, const FunctionCopies& copies) {
  absl::flat_hash_map<const Computation*, Computation*> first_of(copies.begin(), copies.end());
  bool joined = false;
  for (Computation* c : module.ComputationsPostOrder())  // callees before callers
    for (Instruction* i : c->Instructions()) {
      if (i->opcode() != Opcode::kCall) continue;
      const auto found = first_of.find(i->to_apply());
      if (found == first_of.end() || !CutAlike(i->to_apply(), found->second)) continue;
      i->SetCalled(0, found->second);
      joined = true;
    }
  if (joined) RemoveUncalled(module);
}

bool SinkLoopConstants(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder()) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || !loop->IsOnlyCaller(callers)) continue;
      if (!SinkInitial(*loop, &IsKnownConstant)) continue;
      NarrowState(*loop);
      changed = true;
    }
  return changed;
}

bool SplitConstantArrays(Module& module) {
  bool changed = false;
  int64_t copied = 0;
  for (Computation* c : module.Computations()) changed |= SplitIn(c, copied);
  return changed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
