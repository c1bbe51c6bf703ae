// algsimp: local algebra, from the rule tables of passes/simplify/.
//   (x + 0) * 1   ->  add-zero: x * 1  ->  mul-one: x
#include <algorithm>
#include <array>
#include <deque>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/any_layout.h"
#include "passes/rewrite/dead_code.h"
#include "passes/simplify/rule.h"
#include "support/dense_map.h"
#include "support/status.h"

namespace hlokit {
namespace {

using RulesByOpcode = std::array<std::vector<const Rule*>, kOpcodeCount>;

template <typename Visit>
void ForEachRule(Visit visit) {
  for (auto table :
       {ArithmeticRules(), CompareSelectRules(), ConvertRules(), BroadcastReshapeRules(),
        MovementRules(), ReduceRules(), SignRules(), IotaRules(), IntegerRules(), LogicRules(),
        BoundRules(), PartRules(), PieceRules(), UpdateRules(), ProductRules(), TransposeRules()})
    for (const Rule& rule : table) visit(rule);
}

// By the instruction's id, of a whole module: as long as its instructions are many, so computations
// share them.
struct Marks {
  DenseMap<char> queued, gone;
};

class Simplifier {
 public:
  Simplifier(Computation& computation, const RulesByOpcode& rules, RewriteControl& control,
             bool keeps_order, Marks& marks)
      : c_(computation),
        rules_(rules),
        control_(control),
        keeps_order_(keeps_order),
        rewriter_(computation),
        queued_(marks.queued),
        gone_(marks.gone) {}

  bool Run() {
    changed_ = RemoveDead(c_);
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

  // Memory orders mean nothing before layouts are assigned; a copy is there to change them.
  bool MayStandFor(const Instruction* simpler, const Instruction* i) const {
    if (SameShape(simpler->shape(), i->shape())) return true;
    return !keeps_order_ && i->opcode() != Opcode::kCopy &&
           SameButForOrder(simpler->shape(), i->shape()) && UsersTakeAnyOrder(i);
  }

  void Push(Instruction* i) {
    if (queued_[i->id()]) return;
    queued_[i->id()] = true;
    work_.push_back({i, i->id()});
  }

  void Visit(Instruction* i) {
    for (const Rule* rule : rules_[static_cast<int>(i->opcode())]) {
      rewriter_.set_subject(i);
      Instruction* simpler = rule->apply(i, rewriter_);
      const std::vector<Instruction*> made = rewriter_.TakeMade();
      const bool takes = simpler != nullptr && simpler != i && MayStandFor(simpler, i) &&
                         control_.Permit(rule->name, *i, *simpler);
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
  const RulesByOpcode& rules_;
  RewriteControl& control_;
  bool keeps_order_;
  Rewriter rewriter_;
  std::deque<std::pair<Instruction*, int64_t>> work_;
  DenseMap<char>&queued_, &gone_;
  bool changed_ = false;
};

class Algsimp final : public ComputationPass {
 public:
  Algsimp(absl::string_view name, absl::Span<const std::string> disabled, bool rounding,
          bool layout_sensitive)
      : name_(name), layout_sensitive_(layout_sensitive) {
    const auto take = [&](const Rule& rule) {
      if (std::find(disabled.begin(), disabled.end(), rule.name) == disabled.end())
        rules_[static_cast<int>(rule.opcode)].push_back(&rule);
    };
    ForEachRule(take);
    if (rounding)
      for (const Rule& rule : RoundingRules()) take(rule);
    if (layout_sensitive)
      for (const Rule& rule : LayoutRules()) take(rule);
  }
  absl::string_view name() const override { return name_; }
  absl::StatusOr<bool> Run(Module& module) override {
    marks_ = Marks();
    return ComputationPass::Run(module);
  }
  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    return Simplifier(computation, rules_, control(), layout_sensitive_, marks_).Run();
  }
  bool into_applied() const override { return true; }

 private:
  absl::string_view name_;
  bool layout_sensitive_;
  RulesByOpcode rules_;
  Marks marks_;
};

// Names of all rules, in the order they are tried; several rules may share one.
std::vector<absl::string_view> RuleNames() {
  std::vector<absl::string_view> names;
  ForEachRule([&](const Rule& rule) { names.push_back(rule.name); });
  for (auto table : {RoundingRules(), LayoutRules()})
    for (const Rule& rule : table) names.push_back(rule.name);
  return names;
}

}  // namespace

// Applies every rule that matches, again to what the rules make and to its users, until none does.
// What has no use is removed. Results agree bit for bit except that the sign of a floating zero may
// be lost, and floats are never reassociated. Cost: linear in the module plus the rewrites.
// Options: disable=RULE;... leaves rules out by name; rounding adds those of simplify/rounding.cc,
// which XLA applies always and whose results may differ in the last places; layout-sensitive adds
// those of simplify/memory_order.cc.
std::unique_ptr<Pass> CreateAlgsimp(PassArguments& arguments) {
  const std::vector<std::string> disabled =
      arguments.List("disable", RuleNames(), "rules to leave out");
  const bool rounding = arguments.Flag("rounding", "also rules that round otherwise");
  const bool layout_sensitive = arguments.Flag(
      "layout-sensitive", "also rules of memory order: reshapes and transposes as bitcasts");
  return std::make_unique<Algsimp>("algsimp", disabled, rounding, layout_sensitive);
}

// test-only-algebraic-simplifier-with-onednn-enabled: the same, as XLA's hlo-opt names it where
// oneDNN computes products; no rule here asks who computes them.
std::unique_ptr<Pass> CreateTestOnlyAlgsimpWithOnednn() {
  return std::make_unique<Algsimp>("test-only-algebraic-simplifier-with-onednn-enabled",
                                   absl::Span<const std::string>(), false, false);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
