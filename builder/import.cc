// Copies computations between modules, callees first.
#include "absl/container/flat_hash_map.h"
#include "builder/import_internal.h"

namespace hlokit {
namespace {

using Copies = absl::flat_hash_map<const Computation*, Computation*>;

void CopyBody(const Computation& from, const Copies& computations, Computation& to) {
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  std::vector<Instruction*> operands;
  for (const Instruction* i : from.PostOrder()) {
    operands.clear();
    for (const Instruction* operand : i->operands()) operands.push_back(copies.at(operand));
    Instruction* copy = to.Add(i->CloneWith(i->shape(), operands));
    std::vector<Computation*> called;
    for (const Computation* callee : i->called()) called.push_back(computations.at(callee));
    copy->set_called(std::move(called));
    for (const Instruction* before : i->control_predecessors())
      copy->AddControlPredecessor(copies.at(before));
    copies[i] = copy;
  }
  to.set_root(copies.at(from.root()));
  to.set_execution_thread(from.execution_thread());
}

}  // namespace

Computation* CopyInto(const Module& from, Module& to) {
  Copies computations;
  for (const Computation* c : from.ComputationsPostOrder()) {
    Computation* copy = to.AddComputation(c->name());
    CopyBody(*c, computations, *copy);
    computations[c] = copy;
  }
  return computations.at(from.entry());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
