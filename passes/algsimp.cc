// The loop that applies the rules.
#include "passes/algsimp.h"

#include <array>
#include <deque>

#include "passes/simplify/rule.h"
#include "support/dense_map.h"
#include "support/status.h"

namespace hlokit {
namespace {

using RulesByOpcode = std::array<std::vector<const Rule*>, kOpcodeCount>;

const RulesByOpcode& AllRules() {
  static const RulesByOpcode* rules = [] {
    auto* made = new RulesByOpcode;
    for (auto table : {ArithmeticRules(), CompareSelectRules(), ConvertRules(),
                       BroadcastReshapeRules(), MovementRules(), ReduceRules()})
      for (const Rule& rule : table) (*made)[static_cast<int>(rule.opcode)].push_back(&rule);
    return made;
  }();
  return *rules;
}

class Simplifier {
 public:
  explicit Simplifier(Computation& computation) : c_(computation), rewriter_(computation) {}

  bool Run() {
    for (Instruction* i : c_.PostOrder()) Push(i);
    // Every rewrite makes the program simpler; the bound is for a pair of rules that undo one
    // another.
    int64_t budget = 16 * c_.instruction_count() + 1000;
    while (!work_.empty() && budget > 0) {
      auto [i, id] = work_.front();
      work_.pop_front();
      queued_[id] = false;
      if (gone_[id] || !MayRewrite(i)) continue;
      --budget;
      Visit(i);
    }
    return changed_;
  }

 private:
  static bool MayRewrite(const Instruction* i) {
    return (!i->users().empty() || i->IsRoot()) && i->control_predecessors().empty() &&
           i->control_successors().empty() && i->shape().IsArray() && !i->shape().HasDynamicDims();
  }

  void Push(Instruction* i) {
    if (queued_[i->id()]) return;
    queued_[i->id()] = true;
    work_.push_back({i, i->id()});
  }

  void Visit(Instruction* i) {
    for (const Rule* rule : AllRules()[static_cast<int>(i->opcode())]) {
      rewriter_.set_subject(i);
      Instruction* simpler = rule->apply(i, rewriter_);
      const std::vector<Instruction*> made = rewriter_.TakeMade();
      const bool takes =
          simpler != nullptr && simpler != i && SameShape(simpler->shape(), i->shape());
      if (takes) {
        for (Instruction* user : i->users()) Push(user);
        i->ReplaceAllUsesWith(simpler);
        changed_ = true;
        for (Instruction* m : made) Push(m);
        Push(simpler);
        Drop(i);
        return;
      }
      DropMade(made);
    }
  }

  void DropMade(const std::vector<Instruction*>& made) {
    std::vector<int64_t> ids;
    for (Instruction* m : made) ids.push_back(m->id());
    for (size_t k = made.size(); k-- > 0;)
      if (!gone_[ids[k]]) Drop(made[k]);
  }

  // Removes what is dead from `i` up, so that "its only user" stays true.
  void Drop(Instruction* dead) {
    std::vector<std::pair<Instruction*, int64_t>> work = {{dead, dead->id()}};
    while (!work.empty()) {
      auto [i, id] = work.back();
      work.pop_back();
      if (gone_[id] || !i->users().empty() || i->IsRoot() || i->IsParameter() ||
          i->HasSideEffect() || !i->control_successors().empty())
        continue;
      for (Instruction* operand : i->operands()) work.push_back({operand, operand->id()});
      gone_[id] = true;
      c_.Remove(i);
    }
  }

  Computation& c_;
  Rewriter rewriter_;
  std::deque<std::pair<Instruction*, int64_t>> work_;
  DenseMap<char> queued_, gone_;
  bool changed_ = false;
};

absl::StatusOr<bool> Run(Computation& computation) { return Simplify(computation); }

}  // namespace

bool Simplify(Computation& computation) { return Simplifier(computation).Run(); }

std::unique_ptr<Pass> CreateAlgsimp() { return MakeComputationPass("algsimp", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
