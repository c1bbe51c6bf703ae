// layout-assignment: assigns layouts to all instructions, with copies where constraints differ.
// Leaves row-major order everywhere but where the outside or an instruction fixes another: the
// entry's parameters and result, operands and results of custom calls, bitcasts and fusions. Copies
// join the two. Cost: linear.
//   result wanted in {0,1}  ->  root in {1,0}, then a copy to {0,1}
// With `transposes` a transpose moves nothing, as in XLA: its result lies as its operand does, and
// a copy after it brings that into row-major order; reshapes, too, put dimensions of size one where
// nothing moves. With `back` the layout that a custom call wants of an operand reaches back, as in
// XLA, to what computes it: elementwise operations take it on and hand it to their own operands,
// broadcasts, iotas, reductions, dots and reshapes just write it. Each other use of such a value
// reads a copy of its own, and an operand whose buffer the call writes its result to is copied
// first.
//   call(negate(x)) of {0,1}  ->  call(negate{0,1}(copy{0,1}(x)))
// With `default-results` the entry's results are in row-major order, whatever it says: what a
// compiler does that is told no layouts.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/matchers.h"
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
  bool transposes = false, default_results = false, back = false;
};

// What lies as its operands of the same rank do.
bool LiesAsOperands(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kPad:
    case Opcode::kReverse:
    case Opcode::kSlice:
      return true;
    default:
      return HasTrait(i->opcode(), kElementwise);
  }
}

// What can write its result in any order.
bool WritesAnyOrder(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kDot:
    case Opcode::kIota:
    case Opcode::kReduce:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return true;
    default:
      return LiesAsOperands(i);
  }
}

// The orders that custom calls want, of what computes their operands.
//   call(negate(x)) of {0,1}: negate lies so; x, a parameter, has an order already
class WantedOrders {
 public:
  void Want(Instruction* value, const DimVector& minor_to_major) {
    std::vector<Instruction*> todo = {value};
    while (!todo.empty()) {
      Instruction* const x = todo.back();
      todo.pop_back();
      if (!x->shape().IsArray() || KeepsLayouts(x) || !WritesAnyOrder(x)) continue;
      if (!wanted_.try_emplace(x, minor_to_major).second || !LiesAsOperands(x)) continue;
      for (Instruction* operand : x->operands())
        if (operand->shape().rank() == x->shape().rank()) todo.push_back(operand);
    }
  }

  // The instruction's shape in the order that it lies in.
  Shape ShapeOf(const Instruction* i) const { return InOrderOf(i, i->shape()); }
  // And its operand's, as it reads it.
  Shape OperandShape(const Instruction* i, int64_t k) const {
    const Shape& shape = i->operand(k)->shape();
    const bool alike = LiesAsOperands(i) && shape.IsArray() && shape.rank() == i->shape().rank();
    return alike ? InOrderOf(i, shape) : shape.WithDefaultLayout();
  }
  bool Knows(const Instruction* i) const { return wanted_.contains(i); }

 private:
  Shape InOrderOf(const Instruction* i, const Shape& shape) const {
    Shape result = shape.WithDefaultLayout();
    const auto found = wanted_.find(i);
    if (found != wanted_.end())
      result.layout.minor_to_major.assign(found->second.begin(), found->second.end());
    return result;
  }

  absl::flat_hash_map<const Instruction*, DimVector> wanted_;
};

// Fixed results are copied for their users, operands for their fixed users.
class Assigner {
 public:
  Assigner(Computation& computation, const LayoutOptions& options)
      : c_(computation), options_(options) {}

  bool Run() {
    const std::vector<Instruction*> order = c_.PostOrder();
    const Shape result = c_.root()->shape();
    if (options_.back)
      for (Instruction* i : order)
        if (i->opcode() == Opcode::kCustomCall) ReachBack(i);
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
    for (Instruction* i : order)
      if (options_.back && !KeepsLayouts(i)) CopyOperands(i);
    if (options_.transposes)
      for (Instruction* i : order)
        if (i->opcode() == Opcode::kTranspose && !wanted_.Knows(i)) LieAsOperand(i);
    if (options_.transposes)
      for (Instruction* i : order)
        if (i->opcode() == Opcode::kReshape && !wanted_.Knows(i)) ReshapeAsOperand(i);
    if (c_.IsEntry()) {
      FixResult(result);
    } else if (wanted_.Knows(c_.root())) {
      c_.set_root(InLayout(c_.root(), c_.root()->shape().WithDefaultLayout()));
    }
    return changed_;
  }

 private:
  // What a custom call wants of its operands. One that it writes its result over is a copy: others
  // may read what is there.
  void ReachBack(Instruction* call) {
    const std::vector<Shape> shapes = OperandLayouts(call);
    std::vector<bool> written(shapes.size());
    for (const OutputAlias& alias : call->attr<CustomCallAttrs>().output_to_operand_aliasing)
      written[alias.operand] = true;
    for (size_t k = 0; k < shapes.size(); ++k) {
      if (!shapes[k].IsArray() || shapes[k].layout.IsDefaultOrder()) continue;
      Instruction* const operand = call->operand(k);
      wanted_.Want(operand, shapes[k].MinorToMajor());
      if (!written[k]) continue;
      call->SetOperand(k, c_.Add(Opcode::kCopy, shapes[k], {operand}));
      changed_ = true;
    }
  }

  // A copy for each use of a value that lies in another order than its reader takes.
  void CopyOperands(Instruction* i) {
    if (i->opcode() == Opcode::kGetTupleElement) return;
    for (int64_t k = 0; k < i->operand_count(); ++k) {
      Instruction* const operand = InLayout(i->operand(k), wanted_.OperandShape(i, k));
      if (operand == i->operand(k)) continue;
      i->SetOperand(k, operand);
      changed_ = true;
    }
  }

  void Reset(Instruction* i) {
    Shape shape = wanted_.ShapeOf(i);
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
      if (user->opcode() != Opcode::kGetTupleElement && !options_.back) users.push_back(user);
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
    Instruction* copy = CopyOf(transpose, was);
    const std::vector<Instruction*> users(transpose->users().begin(), transpose->users().end());
    for (Instruction* user : users)
      if (user != copy) transpose->ReplaceUseIn(user, copy);
    if (transpose->IsRoot()) c_.set_root(copy);
    changed_ = true;
  }

  // A reshape lies as its operand does, too, and leaves dimensions of size one before the others;
  // its reader copies it. Not where it only adds such dimensions, where several read it or where it
  // is written into a larger array: those fix its layout first.
  //   s32[2,12] -> s32[24,1]{0,1}
  void ReshapeAsOperand(Instruction* reshape) {
    const Shape &from = reshape->operand(0)->shape(), was = reshape->shape();
    const bool adds_ones = SameWithoutOnes(from, was) && from.rank() < was.rank();
    if (from.rank() < 2 || adds_ones || reshape->users().size() != 1 || reshape->IsRoot() ||
        reshape->users()[0]->opcode() == Opcode::kDynamicUpdateSlice)
      return;
    Shape shape = was;
    std::stable_partition(shape.layout.minor_to_major.begin(), shape.layout.minor_to_major.end(),
                          [&](int64_t d) { return was.dims[d] != 1; });
    if (!NeedsCopy(was, shape)) return;
    reshape->set_shape(std::move(shape));
    Instruction* const user = reshape->users()[0];
    reshape->ReplaceUseIn(user, CopyOf(reshape, was));
    changed_ = true;
  }

  Instruction* CopyOf(Instruction* i, const Shape& shape) {
    Instruction* copy = c_.Add(Opcode::kCopy, shape, {i});
    copy->CopyExtrasFrom(*i);
    return copy;
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
  WantedOrders wanted_;
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
  options.back =
      arguments.Flag("back", "the layouts that custom calls want reach back to their operands");
  return std::make_unique<LayoutAssignment>(options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
