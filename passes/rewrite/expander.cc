// The walk that all expanders share.
#include "passes/rewrite/expander.h"

#include <algorithm>

#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/layout_copies.h"
#include "support/status.h"

namespace hlokit {
namespace {

class Expander final : public ComputationPass {
 public:
  Expander(absl::string_view name, Expand expand, ExpanderOptions options)
      : name_(name), expand_(std::move(expand)), options_(options) {}
  absl::string_view name() const override { return name_; }
  bool into_fusions() const override { return options_.everywhere; }

  absl::StatusOr<bool> Run(Module& module) override {
    const int64_t first_new = module.computation_id_bound();
    ASSIGN_OR_RETURN(const bool changed, ComputationPass::Run(module));
    RemoveUncalledSince(module, first_new);  // of what was not permitted
    return changed;
  }

  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    bool changed = false;
    Rewriter rewriter(computation);
    for (Instruction* i : computation.PostOrder()) {
      if (i->users().empty() && !i->IsRoot()) continue;
      rewriter.set_subject(i);
      ASSIGN_OR_RETURN(Instruction * made, expand_(i, rewriter));
      const std::vector<Instruction*> all_made = rewriter.TakeMade();
      if (made == nullptr || made == i || !control().Permit(name_, *i, *made)) {
        for (size_t k = all_made.size(); k-- > 0;) computation.Remove(all_made[k]);
        continue;
      }
      bool is_new = std::find(all_made.begin(), all_made.end(), made) != all_made.end();
      std::vector<Instruction*> copies;  // users may look at the bytes, as a bitcast does
      made = InLayoutOf(made, i->shape(), copies);
      for (Instruction* copy : copies) copy->set_metadata(i->shared_metadata());
      is_new |= !copies.empty();
      Replace(computation, i, made, is_new);
      changed = true;
    }
    return changed;
  }

 private:
  void Replace(Computation& computation, Instruction* old, Instruction* made, bool is_new) const {
    old->ReplaceAllUsesWith(made);
    PassOnControlEdges(old, made, is_new);
    const std::vector<Instruction*> needed(old->operands().begin(), old->operands().end());
    computation.Remove(old);
    if (!options_.keeps_operands) RemoveUnused(computation, needed);
  }

  // `operands` may name one more than once, and some may hang on others: those are removed with
  // them.
  static void RemoveUnused(Computation& computation, std::vector<Instruction*> operands) {
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    std::erase_if(operands, [](const Instruction* operand) { return !operand->users().empty(); });
    for (Instruction* operand : operands) computation.RemoveIfDead(operand);
  }

  absl::string_view name_;
  Expand expand_;
  ExpanderOptions options_;
};

}  // namespace

std::unique_ptr<Pass> MakeExpander(absl::string_view name, Expand expand, ExpanderOptions options) {
  return std::make_unique<Expander>(name, std::move(expand), options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
