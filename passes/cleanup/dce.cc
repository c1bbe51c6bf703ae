// Dead code elimination: instructions without users or effects, from users to operands in one pass;
// results of fusions that nobody reads; then computations that the entry cannot reach. Linear.
//   f = (f32[8], f32[8]) fusion(x)                      f = f32[8] fusion(x)
//   y = f32[8] get-tuple-element(f), index=1       ->   y is f
// A fusion of several results keeps those that some get-tuple-element reads, in their order; where
// one remains, the fusion gives that array itself. Left as they are: fusions that are read whole or
// whose results share memory with operands.
#include "passes/cleanup/dce.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

using FusionsOf = absl::flat_hash_map<const Computation*, int64_t>;

// How many fusions run each fused computation.
FusionsOf CountFusions(const Module& module) {
  FusionsOf counts;
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) {
      if (i->opcode() == Opcode::kFusion) ++counts[i->to_apply()];
    });
  return counts;
}

// The numbers of the results that are read, in order. All of them where the fusion is used as a
// whole.
std::vector<int64_t> ReadResults(const Instruction& fusion) {
  const int64_t count = fusion.to_apply()->root()->operand_count();
  std::vector<bool> read(count, fusion.IsRoot() || fusion.users().empty());
  for (const Instruction* user : fusion.users()) {
    if (user->opcode() != Opcode::kGetTupleElement)
      read.assign(count, true);
    else
      read[user->tuple_index()] = true;
  }
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < count; ++k)
    if (read[k]) numbers.push_back(k);
  return numbers;
}

// The control edges of `from` become those of `to`, of the same computation.
void MoveControlEdges(Instruction* from, Instruction* to) {
  const std::vector<Instruction*> before(from->control_predecessors().begin(),
                                         from->control_predecessors().end());
  const std::vector<Instruction*> after(from->control_successors().begin(),
                                        from->control_successors().end());
  from->DropControlEdges();
  for (Instruction* i : before) to->AddControlPredecessor(i);
  for (Instruction* i : after)
    if (i != to) i->AddControlPredecessor(to);
}

// Whether a control edge after a result's get-tuple-element can begin at the fusion instead.
bool EdgesCanMove(const Instruction& fusion) {
  return std::all_of(fusion.users().begin(), fusion.users().end(),
                     [](const Instruction* u) { return u->control_predecessors().empty(); });
}

// The fusion gives its result `number` alone, and stands for each get-tuple-element of it.
void KeepOne(Instruction* fusion, int64_t number) {
  Computation& fused = *fusion->to_apply();
  fused.set_root(fused.root()->operand(number));
  const Shape shape = fusion->shape().elements[number];  // whose layout may be another than within
  fusion->set_shape(shape);
  const std::vector<Instruction*> parts(fusion->users().begin(), fusion->users().end());
  for (Instruction* part : parts) {
    MoveControlEdges(part, fusion);
    part->ReplaceAllUsesWith(fusion);
    fusion->parent()->Remove(part);
  }
}

// The fusion gives the results `numbers`, renumbered in that order.
void KeepSome(Instruction* fusion, const std::vector<int64_t>& numbers) {
  Computation& fused = *fusion->to_apply();
  Instruction* const old = fused.root();
  std::vector<Instruction*> kept;
  std::vector<Shape> inside, outside;  // layouts may differ
  for (int64_t k : numbers) {
    kept.push_back(old->operand(k));
    inside.push_back(old->operand(k)->shape());
    outside.push_back(fusion->shape().elements[k]);
  }
  fused.set_root(fused.Add(old->CloneWith(Shape::Tuple(std::move(inside)), kept)));
  fusion->set_shape(Shape::Tuple(std::move(outside)));
  for (Instruction* part : fusion->users()) {
    const auto at = std::find(numbers.begin(), numbers.end(), part->tuple_index());
    part->mutable_attr<GetTupleElementAttrs>().index = at - numbers.begin();
  }
}

// True if the fusion gave results that nobody reads, which it now does not give.
bool DropUnreadResults(Instruction* fusion) {
  Computation& fused = *fusion->to_apply();
  Instruction* const old = fused.root();
  if (old->opcode() != Opcode::kTuple || fusion->sharding() != nullptr ||
      !fusion->attr<FusionAttrs>().output_to_operand_aliasing.empty())
    return false;
  const std::vector<int64_t> numbers = ReadResults(*fusion);
  if (numbers.empty() || static_cast<int64_t>(numbers.size()) == old->operand_count()) return false;
  if (numbers.size() == 1 && EdgesCanMove(*fusion))
    KeepOne(fusion, numbers[0]);
  else
    KeepSome(fusion, numbers);
  if (old->users().empty()) fused.Remove(old);
  RemoveDead(fused);
  return true;
}

absl::StatusOr<bool> RemoveDeadCode(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations()) changed |= RemoveDead(*c);
  const FusionsOf fusions = CountFusions(module);
  for (Computation* c : module.Computations()) {
    std::vector<Instruction*> own;  // what a fusion's results are read by goes with them
    for (Instruction* i : c->Instructions())
      if (i->opcode() == Opcode::kFusion && fusions.at(i->to_apply()) == 1) own.push_back(i);
    for (Instruction* fusion : own) changed |= DropUnreadResults(fusion);
  }
  return RemoveUncalled(module) || changed;
}

}  // namespace

std::unique_ptr<Pass> CreateDce() { return MakeModulePass("dce", RemoveDeadCode); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
