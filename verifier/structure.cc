// Structure: the entry, operands and users, roots, parameter numbers, called computations, control
// edges.
#include "absl/container/flat_hash_set.h"
#include "support/dense_map.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

// Scrambles an id so that sums of them tell sets apart.
// Constants of splitmix64. Comparing sums takes linear time, where comparing lists of users would
// be quadratic for a value with many users; a wrong list passes with probability about 2^-64.
uint64_t Mix(int64_t id) {
  uint64_t x = static_cast<uint64_t>(id) + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// [computation-c1] operands exist, [computation-c2] in the same computation.
void CheckOperands(VerifyRun& run, const Instruction& i) {
  for (int64_t n = 0; n < i.operand_count(); ++n) {
    const Instruction* operand = i.operand(n);
    if (operand == nullptr) {
      run.Error(i, "computation-c1", "operand ", n, " is missing");
    } else if (operand->parent() != i.parent()) {
      run.Error(i, "computation-c2", "operand ", n, ", %", operand->name(),
                ", is in another computation");
    }
  }
}

// [computation-c3] users are exactly the instructions that have the operand: both sides' sums over
// ids agree. The tables serve all bodies, which share no instruction.
void CheckUsers(VerifyRun& run, const VerifyRun::Body& body, DenseMap<uint64_t>& by_operands,
                DenseMap<int64_t>& last_user) {
  for (const Instruction* i : body.instructions) {
    for (const Instruction* operand : i->operands()) {
      if (operand == nullptr || last_user[operand->id()] == i->id()) continue;
      last_user[operand->id()] = i->id();
      by_operands[operand->id()] += Mix(i->id());
    }
  }
  for (const Instruction* i : body.instructions) {
    uint64_t by_users = 0;
    for (const Instruction* user : i->users()) by_users += Mix(user->id());
    if (by_users != by_operands.at(i->id()))
      run.Error(*i, "computation-c3", "its users do not match their operands");
  }
}

// [computation-c4] each control predecessor is in the same computation.
void CheckControlEdges(VerifyRun& run, const Instruction& i) {
  for (const Instruction* before : i.control_predecessors())
    if (before == nullptr || before->parent() != i.parent())
      run.Error(i, "computation-c4", "a control predecessor is missing or in another computation");
  for (const Instruction* after : i.control_successors())
    if (after == nullptr || after->parent() != i.parent())
      run.Error(i, "computation-c4", "a control successor is missing or in another computation");
}

// [computation-c5] there is a root, which is one of the instructions.
void CheckRoot(VerifyRun& run, const Computation& computation) {
  const Instruction* root = computation.root();
  if (root == nullptr || root->parent() != &computation)
    run.out.Error(computation.place(), "computation-c5", "computation ", computation.name(),
                  " has no root of its own");
}

// [computation-c6] parameters are numbered 0, 1, ... without gaps or repeats.
void CheckParameters(VerifyRun& run, const VerifyRun::Body& body) {
  int64_t count = 0;
  for (const Instruction* i : body.instructions) count += i->IsParameter();
  std::vector<const Instruction*> by_number(count, nullptr);
  const Instruction* outside = nullptr;
  for (const Instruction* i : body.instructions) {
    if (!i->IsParameter()) continue;
    const int64_t number = i->parameter_number();
    if (number < 0 || number >= count) {
      outside = i;
    } else if (by_number[number] != nullptr) {
      run.Error(*i, "computation-c6", "number ", number, " is taken by %",
                by_number[number]->name());
    } else {
      by_number[number] = i;
    }
  }
  if (outside != nullptr)
    run.Error(*outside, "computation-c6", "number ", outside->parameter_number(),
              " leaves a gap: computation ", body.computation->name(), " has ", count, " parameter",
              count == 1 ? "" : "s");
}

// [module-c2] called computations exist and belong to this module.
void CheckCalled(VerifyRun& run, const Instruction& i,
                 const absl::flat_hash_set<const Computation*>& own) {
  for (const Computation* called : i.called())
    if (called == nullptr || !own.contains(called))
      run.Error(i, "module-c2", "it calls a computation that is not in the module");
}

}  // namespace

void CheckStructure(VerifyRun& run) {
  absl::flat_hash_set<const Computation*> own;
  for (const VerifyRun::Body& body : run.bodies) own.insert(body.computation);
  if (run.module.entry() == nullptr || !own.contains(run.module.entry()))
    run.out.Error({}, "module-c1", "the module has no ENTRY computation");
  for (const VerifyRun::Body& body : run.bodies) {
    CheckRoot(run, *body.computation);
    CheckParameters(run, body);
  }
  run.ForEachInstruction([&](const Instruction& i) {
    CheckOperands(run, i);
    CheckControlEdges(run, i);
    CheckCalled(run, i, own);
  });
  if (!run.out.ok()) return;
  DenseMap<uint64_t> by_operands(run.module.id_bound(), 0);
  DenseMap<int64_t> last_user(run.module.id_bound(), -1);
  for (const VerifyRun::Body& body : run.bodies) CheckUsers(run, body, by_operands, last_user);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
