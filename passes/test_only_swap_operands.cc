// test-only-swap-operands: swaps operands, correctly or not; for tests of bisection.
// Swaps the operands of every instruction of one opcode with two operands of one shape (option
// of=OPCODE, add by default). Run twice it undoes itself; on an opcode that does not commute the
// result is wrong, which is the point.
//
// The pass that swaps.
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {
namespace {

class SwapOperands final : public ComputationPass {
 public:
  explicit SwapOperands(std::string opcode) : opcode_(std::move(opcode)) {}
  absl::string_view name() const override { return "test-only-swap-operands"; }

  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    bool changed = false;
    for (Instruction* i : computation.PostOrder()) {
      if (Text(i->opcode()) != opcode_ || i->operands().size() != 2 ||
          i->operand(0) == i->operand(1) || i->operand(0)->shape() != i->operand(1)->shape() ||
          !control().Permit("swap", *i, *i))
        continue;
      Instruction* first = i->operand(0);
      i->SetOperand(0, i->operand(1));
      i->SetOperand(1, first);
      changed = true;
    }
    return changed;
  }

 private:
  std::string opcode_;
};

}  // namespace

std::unique_ptr<Pass> CreateTestOnlySwapOperands(PassArguments& arguments) {
  return std::make_unique<SwapOperands>(
      arguments.String("of", "add", "the opcode whose operands are swapped"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
