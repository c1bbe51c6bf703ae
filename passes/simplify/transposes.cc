// Transposes that meet across elementwise operations.
#include <algorithm>

#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

const DimVector& Order(const Instruction* transpose) {
  return transpose->attr<DimensionsAttrs>().dimensions;
}

bool Undoes(const Instruction* inner, const DimVector& order) {
  if (inner->opcode() != Opcode::kTranspose) return false;
  for (size_t d = 0; d < order.size(); ++d)
    if (Order(inner)[order[d]] != static_cast<int64_t>(d)) return false;
  return inner->operand(0)->shape().IsRowMajor();
}

bool IsElementwise(const Instruction* i) {
  for (const Instruction* operand : i->operands())
    if (!operand->shape().IsScalar() && operand->shape().dims != i->shape().dims) return false;
  return HasTrait(i->opcode(), kElementwise) && i->operand_count() > 0 && i->shape().IsArray() &&
         i->users().size() == 1 && !i->IsRoot() && i->shape().IsRowMajor() &&
         !i->shape().HasDynamicDims();
}

// Takes a transpose of an elementwise expression to the expression's leaves.
class Pushed {
 public:
  Pushed(const DimVector& order, Rewriter& r) : order_(order), r_(r) {}

  // How many transposes fewer there are once `x` has been transposed.
  int Gain(const Instruction* x, int depth = 0) const {
    if (x->shape().IsScalar() || IsSpreadScalar(x)) return 0;
    if (Undoes(x, order_)) return x->users().size() == 1 ? 1 : 0;
    if (depth == kMaxDepth || !IsElementwise(x)) return -1;
    int gain = 0;
    for (const Instruction* operand : x->operands()) gain += Gain(operand, depth + 1);
    return std::max(gain, -1);
  }

  Instruction* Transposed(Instruction* x, int depth = 0) {
    if (x->shape().IsScalar()) return x;
    const Shape shape = Moved(x->shape());
    if (IsSpreadScalar(x)) return r_.Broadcast(x->operand(0), shape, {});
    if (Undoes(x, order_)) return x->operand(0);
    if (Gain(x, depth) < 0 || !IsElementwise(x))
      return r_.Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{order_});
    std::vector<Instruction*> operands;
    for (Instruction* operand : x->operands()) operands.push_back(Transposed(operand, depth + 1));
    return r_.Clone(x, shape, operands);
  }

 private:
  static constexpr int kMaxDepth = 6;

  Shape Moved(const Shape& shape) const {
    Shape moved = Shape::Array(shape.type, {});
    for (int64_t d : order_) moved.dims.push_back(shape.dims[d]);
    return moved.WithDefaultLayout();
  }

  const DimVector& order_;
  Rewriter& r_;
};

// transpose(f(transpose(a), b)) is f(a, transpose(b)) where the two undo each other.
Instruction* TransposeOfElementwise(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (!i->shape().IsRowMajor() || !IsElementwise(x)) return nullptr;
  Pushed pushed(Order(i), r);
  int gain = 0;
  bool meets = false;
  for (const Instruction* operand : x->operands()) {
    const int one = pushed.Gain(operand, 1);
    meets = meets || one > 0;
    gain += one;
  }
  return meets && gain >= 0 ? pushed.Transposed(x) : nullptr;
}

constexpr Rule kTransposeRules[] = {
    {"transpose-of-elementwise", Opcode::kTranspose, TransposeOfElementwise},
};

}  // namespace

absl::Span<const Rule> TransposeRules() { return kTransposeRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
