// layout-assignment: assigns layouts to all instructions, with copies where constraints differ.
// Leaves row-major order everywhere but where the outside or an instruction fixes another: the
// entry's parameters and result, operands and results of custom calls, bitcasts and fusions. Copies
// join the two. Cost: linear.
//   result wanted in {0,1}  ->  root in {1,0}, then a copy to {0,1}
// With `xla` layouts go on from one instruction to the next as in XLA's CPU compiler
// (layout_propagation.h): transposes and reshapes move nothing, and each use that wants another
// layout reads a copy of its own.
//   call(negate(x)) of {0,1}  ->  call(negate{0,1}(copy{0,1}(x)))
// With `default-results` the entry's results are in row-major order, whatever it says: what a
// compiler does that is told no layouts.
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/layouts/fixed_layouts.h"
#include "passes/layouts/layout_propagation.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Fixed results are copied for their users, operands for their fixed users.
class Assigner {
 public:
  Assigner(Computation& computation, bool default_results)
      : c_(computation), default_results_(default_results) {}

  bool Run() {
    const std::vector<Instruction*> order = c_.PostOrder();
    const Shape result = EntryResult(c_, default_results_);
    std::vector<std::pair<Instruction*, std::vector<Shape>>> fixed;
    for (Instruction* i : order)
      if (KeepsLayouts(i) && i->operand_count() > 0) fixed.push_back({i, OperandLayouts(i)});
    for (Instruction* i : order) KeepsLayouts(i) ? CopyResult(i) : Reset(i);
    for (auto& [i, shapes] : fixed)
      for (size_t k = 0; k < shapes.size(); ++k) {
        Instruction* operand = InLayout(i->operand(k), shapes[k]);
        changed_ |= operand != i->operand(k);
        if (operand != i->operand(k)) i->SetOperand(k, operand);
      }
    if (c_.IsEntry()) SetRootLayout(result);
    return changed_;
  }

 private:
  void Reset(Instruction* i) {
    Shape shape = i->shape().WithDefaultLayout();
    if (shape == i->shape()) return;
    changed_ |= DiffersInText(shape, i->shape());
    i->set_shape(std::move(shape));
  }

  void CopyResult(Instruction* i) {
    if (i->opcode() == Opcode::kCopyStart) return;  // copy-done alone may read it
    const Shape shape = i->shape().WithDefaultLayout();
    if (!NeedsCopy(i->shape(), shape)) return;
    const bool root = i->IsRoot();
    std::vector<Instruction*> users;
    for (Instruction* user : i->users())  // parts of a tuple are copied one by one
      if (user->opcode() != Opcode::kGetTupleElement) users.push_back(user);
    if (users.empty() && !root) return;
    Instruction* copy = InLayout(i, shape);
    for (Instruction* user : users) i->ReplaceUseIn(user, copy);
    if (root) c_.set_root(copy);
    changed_ = true;
  }

  void SetRootLayout(const Shape& shape) {
    Instruction* root = InLayout(c_.root(), shape);
    changed_ |= root != c_.root();
    c_.set_root(root);
  }

  Computation& c_;
  const bool default_results_;
  bool changed_ = false;
};

class LayoutAssignment final : public ComputationPass {
 public:
  LayoutAssignment(bool xla, bool default_results) : xla_(xla), default_results_(default_results) {}
  absl::string_view name() const override { return "layout-assignment"; }
  absl::StatusOr<bool> Run(Module& module) override {
    const bool reset = default_results_ && ResetResults(module);
    if (xla_) return PropagateLayouts(module, default_results_) || reset;
    ASSIGN_OR_RETURN(const bool changed, ComputationPass::Run(module));
    return changed || reset;
  }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    return Assigner(c, default_results_).Run();
  }

 private:
  static bool ResetResults(Module& module) {
    auto& layout = module.header().entry_layout;
    if (!layout) return false;
    Shape result = layout->result.WithDefaultLayout();
    const bool changed = DiffersInText(layout->result, result);
    layout->result = std::move(result);
    return changed;
  }

  const bool xla_, default_results_;
};

}  // namespace

std::unique_ptr<Pass> CreateLayoutAssignment(PassArguments& arguments) {
  const bool xla = arguments.Flag(
      "xla", "layouts go on from operands to results and back, as in XLA's CPU compiler");
  const bool default_results =
      arguments.Flag("default-results", "the entry's results in row-major order");
  return std::make_unique<LayoutAssignment>(xla, default_results);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
