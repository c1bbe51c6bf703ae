// algsimp: local algebra, from the rule tables of passes/simplify/.
//   (x + 0) * 1   ->  add-zero: x * 1  ->  mul-one: x
#include <algorithm>
#include <array>
#include <deque>

#include "ir/liveness.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/any_layout.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/simplify/rule.h"
#include "support/dense_map.h"
#include "support/status.h"

namespace hlokit {
namespace {

using RulesByOpcode = std::array<std::vector<const Rule*>, kOpcodeCount>;

// XLA's forms, before the rules that would take the same instruction elsewhere.
template <typename Visit>
void ForEachFormRule(Visit visit) {
  for (auto table : {OnesRules(), IotaFormRules(), ChainRules(), WindowRules(), SumRules(),
                     RoundingRules(), ProductFormRules()})
    for (const Rule& rule : table) visit(rule);
}

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

// Which rules run beside the exact ones that hold before layouts are assigned.
struct Algebra {
  bool exact = false;  // those alone
  bool fast_math = false, layout_sensitive = false;
  bool onednn = false;  // products as oneDNN takes them
};

class Simplifier {
 public:
  Simplifier(Computation& computation, const RulesByOpcode& rules, RewriteControl& control,
             const Algebra& algebra, Marks& marks)
      : c_(computation),
        rules_(rules),
        control_(control),
        algebra_(algebra),
        rewriter_(computation),
        queued_(marks.queued),
        gone_(marks.gone) {}

  bool Run() {
    if (algebra_.exact) changed_ = RemoveDead(c_);
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
  static bool IsRead(const Instruction* i) { return !i->users().empty() || i->IsRoot(); }

  bool MayRewrite(const Instruction* i) const {
    const Opcode without = i->shape().IsArray() ? Opcode::kCustomCall : Opcode::kReduce;
    const bool takes = (i->shape().IsArray() && !i->shape().HasDynamicDims()) ||
                       (!algebra_.exact && i->opcode() == without);
    return takes && (IsRead(i) || !algebra_.exact) && !HasControlEdges(*i);
  }

  // Memory orders mean nothing before layouts are assigned; a copy is there to change them.
  bool MayStandFor(const Instruction* simpler, const Instruction* i) const {
    if (SameShape(simpler->shape(), i->shape())) return true;
    if (i->shape().IsTuple()) return SameIgnoringLayout(simpler->shape(), i->shape());
    return !algebra_.layout_sensitive && i->opcode() != Opcode::kCopy &&
           SameButForOrder(simpler->shape(), i->shape()) && UsersTakeAnyOrder(i);
  }

  // How `i` is cut is told by what stands for it too.
  bool KeepsSharding(const Instruction* simpler, const Instruction* i,
                     absl::Span<Instruction* const> made) const {
    if (algebra_.exact || i->sharding() == nullptr) return true;
    if (std::find(made.begin(), made.end(), simpler) != made.end()) return true;
    if (simpler->sharding() != nullptr) return *simpler->sharding() == *i->sharding();
    return !simpler->IsParameter();
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
      // What is dead is dropped where another value stands for it, and is not written anew.
      const bool helps = IsRead(i) || std::find(made.begin(), made.end(), simpler) == made.end();
      const bool takes = simpler != nullptr && simpler != i && helps && MayStandFor(simpler, i) &&
                         KeepsSharding(simpler, i, made) &&
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
      if (gone_[id] || !IsDead(*i)) continue;
      for (Instruction* operand : i->operands()) work.push_back({operand, operand->id()});
      gone_[id] = true;
      c_.Remove(i);
    }
  }

  Computation& c_;
  const RulesByOpcode& rules_;
  RewriteControl& control_;
  const Algebra& algebra_;
  Rewriter rewriter_;
  std::deque<std::pair<Instruction*, int64_t>> work_;
  DenseMap<char>&queued_, &gone_;
  bool changed_ = false;
};

class Algsimp final : public ComputationPass {
 public:
  Algsimp(absl::string_view name, absl::Span<const std::string> disabled, const Algebra& algebra)
      : name_(name), algebra_(algebra) {
    const auto take = [&](const Rule& rule) {
      // XLA leaves a broadcast whose transpose moves elements once layouts are fixed.
      if (algebra.layout_sensitive && absl::string_view(rule.name) == "transpose-of-broadcast")
        return;
      for (const auto table : {OnesRules(), IotaFormRules()})
        if (algebra.layout_sensitive && &rule >= table.begin() && &rule < table.end()) return;
      if (std::find(disabled.begin(), disabled.end(), rule.name) == disabled.end())
        rules_[static_cast<int>(rule.opcode)].push_back(&rule);
    };
    if (algebra.onednn)
      for (const Rule& rule : OnednnRules()) take(rule);
    if (algebra.fast_math)
      for (const Rule& rule : FastMathRules()) take(rule);
    if (!algebra.exact) ForEachFormRule(take);
    ForEachRule(take);
    if (algebra.layout_sensitive)
      for (const Rule& rule : LayoutRules()) take(rule);
  }
  absl::string_view name() const override { return name_; }
  absl::StatusOr<bool> Run(Module& module) override {
    marks_ = Marks();
    const int64_t first_new = module.computation_id_bound();
    ASSIGN_OR_RETURN(const bool changed, ComputationPass::Run(module));
    RemoveUncalledSince(module, first_new);
    return changed;
  }
  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    return Simplifier(computation, rules_, control(), algebra_, marks_).Run();
  }
  bool into_applied() const override { return true; }

 private:
  absl::string_view name_;
  Algebra algebra_;
  RulesByOpcode rules_;
  Marks marks_;
};

// Names of all rules, in the order they are tried; several rules may share one.
std::vector<absl::string_view> RuleNames() {
  std::vector<absl::string_view> names;
  const auto name = [&](const Rule& rule) { names.push_back(rule.name); };
  for (const Rule& rule : FastMathRules()) name(rule);
  ForEachFormRule(name);
  ForEachRule(name);
  for (const Rule& rule : LayoutRules()) name(rule);
  return names;
}

}  // namespace

// Applies every rule that matches, again to what the rules make and to its users, until none does.
// Results agree to the last places: as in XLA sums and products of floats are reassociated with
// constants, divisions become multiplications, and the sign of a floating zero may be lost.
// Cost: linear in the module plus the rewrites.
// Options: exact applies only rules that keep every bit (but the sign of a zero), and removes what
// has no use: the cpu pipeline runs these. disable=RULE;... leaves rules out by name; fast-math
// adds those that forget NaN, infinities and rounding (x - x is 0); layout-sensitive adds those of
// simplify/memory_order.cc.
std::unique_ptr<Pass> CreateAlgsimp(PassArguments& arguments) {
  const std::vector<std::string> disabled =
      arguments.List("disable", RuleNames(), "rules to leave out");
  Algebra algebra;
  algebra.exact = arguments.Flag("exact", "only rules that keep every bit");
  algebra.fast_math = arguments.Flag("fast-math", "also x - x is 0 of floats and the like");
  algebra.layout_sensitive = arguments.Flag(
      "layout-sensitive", "also rules of memory order: reshapes and transposes as bitcasts");
  return std::make_unique<Algsimp>("algsimp", disabled, algebra);
}

// test-only-algebraic-simplifier-with-onednn-enabled: the same, as XLA's hlo-opt names it where
// oneDNN computes products: convolutions of bf16 that it does not take are computed in f32.
std::unique_ptr<Pass> CreateTestOnlyAlgsimpWithOnednn() {
  Algebra algebra;
  algebra.onednn = true;
  return std::make_unique<Algsimp>("test-only-algebraic-simplifier-with-onednn-enabled",
                                   absl::Span<const std::string>(), algebra);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
