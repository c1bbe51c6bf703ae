// A pass of one's own; README.md says how to build and run it.
#include "passes/plugin.h"

namespace {

using hlokit::Computation;
using hlokit::Instruction;
using hlokit::Opcode;

// x for -(-x), in every computation that runs by itself.
class DropDoubleNegation final : public hlokit::ComputationPass {
 public:
  explicit DropDoubleNegation(bool integers_only) : integers_only_(integers_only) {}
  absl::string_view name() const override { return "drop-double-negation"; }

  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    bool changed = false;
    for (Instruction* outer : computation.PostOrder()) {
      if (outer->opcode() != Opcode::kNegate) continue;
      Instruction* inner = outer->operand(0);
      if (inner->opcode() != Opcode::kNegate) continue;
      Instruction* x = inner->operand(0);
      if (x->shape() != outer->shape()) continue;  // another layout
      if (integers_only_ && !hlokit::IsInteger(x->shape().type)) continue;
      // Asked before each rewrite, so that --bisect and --explain know of it.
      if (!control().Permit("double-negation", *outer, *x)) continue;
      outer->ReplaceAllUsesWith(x);  // what is dead now is left to dce
      changed = true;
    }
    return changed;
  }

 private:
  const bool integers_only_;
};

std::unique_ptr<hlokit::Pass> Create(hlokit::PassArguments& arguments) {
  return std::make_unique<DropDoubleNegation>(
      arguments.Flag("integers-only", "leave floats alone"));
}

}  // namespace

HLOKIT_PASS_PLUGIN("double negations",
                   {"drop-double-negation", "Takes a value for minus minus it.", Create})
// SPDX-License-Identifier: Apache-2.0
