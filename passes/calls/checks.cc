// Cycles, and reductions that round at each step.
#include "passes/calls/checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr size_t kMaxNamed = 8;  // instructions of a cycle

// The instructions that are left once all have gone that wait for none but such as went before:
// those of cycles, and what needs them.
std::vector<const Instruction*> Stuck(const Computation& c) {
  std::vector<int64_t> waits(c.module()->id_bound(), 0);
  std::vector<const Instruction*> free, all;
  for (const Instruction* i : c.Instructions()) {
    all.push_back(i);
    for (const Instruction* user : i->users()) ++waits[user->id()];
    for (const Instruction* after : i->control_successors()) ++waits[after->id()];
  }
  for (const Instruction* i : all)
    if (waits[i->id()] == 0) free.push_back(i);
  while (!free.empty()) {
    const Instruction* i = free.back();
    free.pop_back();
    for (auto later : {i->users(), i->control_successors()})
      for (const Instruction* next : later)
        if (--waits[next->id()] == 0) free.push_back(next);
  }
  std::erase_if(all, [&](const Instruction* i) { return waits[i->id()] == 0; });
  return all;
}

// What `i` needs of those that are stuck; there is always one.
const Instruction* StuckBefore(const Instruction* i, const std::vector<const Instruction*>& stuck) {
  for (auto before : {i->operands(), i->control_predecessors()})
    for (const Instruction* x : before)
      if (std::find(stuck.begin(), stuck.end(), x) != stuck.end()) return x;
  return nullptr;
}

absl::StatusOr<bool> FindCycles(Module& module) {
  for (const Computation* c : module.Computations()) {
    const std::vector<const Instruction*> stuck = Stuck(*c);
    if (stuck.empty()) continue;
    // Going back from any of them ends in a cycle.
    std::vector<const Instruction*> path = {stuck[0]};
    auto start = path.end();
    while (true) {
      const Instruction* next = StuckBefore(path.back(), stuck);
      start = std::find(path.begin(), path.end(), next);
      if (start != path.end()) break;
      path.push_back(next);
    }
    std::vector<std::string> names;
    for (; start != path.end() && names.size() < kMaxNamed; ++start)
      names.push_back(absl::StrCat("%", (*start)->name()));
    return WithPlace(InvalidArgument("hlo-cycle-detection: ", names[0],
                                     " needs itself: ", absl::StrJoin(names, " <- ")),
                     path.back()->place());
  }
  return false;
}

// An instruction of a function that rounds to a narrow float at each step; null: none.
const Instruction* RoundsIn(const Computation& reducer) {
  for (const Instruction* i : reducer.Instructions())
    if (i->shape().IsArray() && IsNarrowFloat(i->shape().type) &&
        (i->opcode() == Opcode::kAdd || i->opcode() == Opcode::kMultiply))
      return i;
  return nullptr;
}

// Whether each result is of one element, so that nothing adds up.
bool AddsOne(const Instruction& reduce) {
  for (int64_t d : reduce.attr<DimensionsAttrs>().dimensions)
    if (reduce.operand(0)->shape().dims[d] != 1) return false;
  return true;
}

absl::StatusOr<bool> FindUnstable(Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) {
      const bool reduces = i->opcode() == Opcode::kReduce || i->opcode() == Opcode::kReduceWindow ||
                           i->opcode() == Opcode::kAllReduce ||
                           i->opcode() == Opcode::kReduceScatter;
      if (!reduces || i->to_apply() == nullptr) continue;
      if (i->opcode() == Opcode::kReduce && AddsOne(*i)) continue;
      if (const Instruction* step = RoundsIn(*i->to_apply()))
        return WithPlace(InvalidArgument("%", i->name(), " rounds to ", Text(step->shape().type),
                                         " at each ", Text(step->opcode())),
                         i->place());
    }
  return false;
}

}  // namespace

std::unique_ptr<Pass> CreateHloCycleDetection() {
  return MakeModulePass("hlo-cycle-detection", FindCycles);
}
std::unique_ptr<Pass> CreateUnstableReductionDetector() {
  return MakeModulePass("unstable-reduction-detector", FindUnstable);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
