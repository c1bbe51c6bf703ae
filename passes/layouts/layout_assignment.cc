// layout-assignment: assigns layouts to all instructions, with copies where constraints differ.
// Leaves row-major order everywhere but where the outside or an instruction fixes another: the
// entry's parameters and result, operands and results of custom calls, bitcasts and fusions. Copies
// join the two. Cost: linear.
//   result wanted in {0,1}  ->  root in {1,0}, then a copy to {0,1}
// With `transposes` a transpose moves nothing, as in XLA: its result lies as its operand does, and
// a copy after it brings that into row-major order. With `default-results` the entry's results are
// in row-major order, whatever it says: what a compiler does that is told no layouts.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool NeedsCopy(const Shape& from, const Shape& to) {
  if (from.IsTuple()) {
    for (size_t k = 0; k < from.elements.size(); ++k)
      if (NeedsCopy(from.elements[k], to.elements[k])) return true;
    return false;
  }
  return from.IsArray() && from.MinorToMajor() != to.MinorToMajor();
}

// `value` in the layouts of `to`: itself where it has them, else a copy, element by element of
// tuples.
Instruction* InLayout(Instruction* value, const Shape& to) {
  if (!NeedsCopy(value->shape(), to)) return value;
  Computation& c = *value->parent();
  if (!to.IsTuple()) return c.Add(Opcode::kCopy, to, {value});
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < to.elements.size(); ++k) {
    Instruction* part = c.Add(Opcode::kGetTupleElement, value->shape().elements[k], {value},
                              GetTupleElementAttrs{static_cast<int64_t>(k)});
    parts.push_back(InLayout(part, to.elements[k]));
  }
  return c.Add(Opcode::kTuple, to, parts);
}

// Instructions that mean something else under other layouts.
bool KeepsLayouts(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kCustomCall:
    case Opcode::kBitcast:
    case Opcode::kFusion:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
      return true;
    case Opcode::kGetTupleElement:
      return KeepsLayouts(i->operand(0));
    default:
      return i->IsParameter() && i->parent()->IsEntry();
  }
}

std::vector<Shape> OperandLayouts(const Instruction* i) {
  std::vector<Shape> shapes;
  for (const Instruction* operand : i->operands())
    shapes.push_back(operand->shape().WithDefaultLayout());
  if (i->opcode() == Opcode::kCustomCall) {
    const auto& constraints = i->attr<CustomCallAttrs>().operand_layout_constraints;
    if (constraints && constraints->size() == shapes.size()) shapes = *constraints;
  } else if (KeepsLayouts(i)) {
    for (size_t k = 0; k < shapes.size(); ++k) shapes[k] = i->operand(k)->shape();
  }
  return shapes;
}

struct LayoutOptions {
  bool transposes = false, default_results = false;
};

// Fixed results are copied for their users, operands for their fixed users.
class Assigner {
 public:
  Assigner(Computation& computation, const LayoutOptions& options)
      : c_(computation), options_(options) {}

  bool Run() {
    const std::vector<Instruction*> order = c_.PostOrder();
    const Shape result = c_.root()->shape();
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
    if (options_.transposes)
      for (Instruction* i : order)
        if (i->opcode() == Opcode::kTranspose) LieAsOperand(i);
    if (c_.IsEntry()) FixResult(result);
    return changed_;
  }

 private:
  void Reset(Instruction* i) {
    Shape shape = i->shape().WithDefaultLayout();
    if (shape == i->shape()) return;
    changed_ |= DiffersInText(shape, i->shape());
    i->set_shape(std::move(shape));
  }

  // That a scalar has a layout at all is nothing that text shows.
  static bool DiffersInText(const Shape& a, const Shape& b) {
    return Text(a, /*with_layout=*/true) != Text(b, /*with_layout=*/true);
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

  void LieAsOperand(Instruction* transpose) {
    const DimVector& from = transpose->attr<DimensionsAttrs>().dimensions;
    const Shape& x = transpose->operand(0)->shape();
    DimVector order;
    for (const int64_t d : x.MinorToMajor())
      order.push_back(std::find(from.begin(), from.end(), d) - from.begin());
    const Shape was = transpose->shape();
    Shape shape = was;
    shape.layout.minor_to_major.assign(order.begin(), order.end());
    if (!NeedsCopy(was, shape)) return;
    transpose->set_shape(std::move(shape));
    Instruction* copy = c_.Add(Opcode::kCopy, was, {transpose});
    copy->CopyExtrasFrom(*transpose);
    const std::vector<Instruction*> users(transpose->users().begin(), transpose->users().end());
    for (Instruction* user : users)
      if (user != copy) transpose->ReplaceUseIn(user, copy);
    if (transpose->IsRoot()) c_.set_root(copy);
    changed_ = true;
  }

  void FixResult(const Shape& was) {
    if (options_.default_results) {
      auto& header = c_.module()->header();
      if (header.entry_layout) {
        Shape result = header.entry_layout->result.WithDefaultLayout();
        changed_ |= DiffersInText(header.entry_layout->result, result);
        header.entry_layout->result = std::move(result);
      }
      return SetRootLayout(was.WithDefaultLayout());
    }
    const auto& entry = c_.module()->header().entry_layout;
    SetRootLayout(entry && SameIgnoringLayout(entry->result, was) ? entry->result : was);
  }

  void SetRootLayout(const Shape& shape) {
    Instruction* root = InLayout(c_.root(), shape);
    changed_ |= root != c_.root();
    c_.set_root(root);
  }

  Computation& c_;
  const LayoutOptions& options_;
  bool changed_ = false;
};

class LayoutAssignment final : public ComputationPass {
 public:
  explicit LayoutAssignment(const LayoutOptions& options) : options_(options) {}
  absl::string_view name() const override { return "layout-assignment"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    return Assigner(c, options_).Run();
  }

 private:
  const LayoutOptions options_;
};

}  // namespace

std::unique_ptr<Pass> CreateLayoutAssignment(PassArguments& arguments) {
  LayoutOptions options;
  options.transposes =
      arguments.Flag("transposes", "transposes move nothing, copies after them do");
  options.default_results =
      arguments.Flag("default-results", "the entry's results in row-major order");
  return std::make_unique<LayoutAssignment>(options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
