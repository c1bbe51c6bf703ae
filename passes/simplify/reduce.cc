// Rules of reductions and dots. Sums of floats are never reassociated by them; maxima, minima, and,
// or and integers may be.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// The op of a reducer that is one op of its two parameters.
// add(a, b) or add(b, a) of the two parameters, not max(a, a) or anything larger; null otherwise.
const Instruction* PlainReducer(const Instruction* reduce) {
  const Computation* f = reduce->to_apply();
  const Instruction* root = f->root();
  if (f->parameter_count() != 2 || root->operand_count() != 2 ||
      !HasTrait(root->opcode(), kCommutative))
    return nullptr;
  const bool straight = root->operand(0) == f->parameter(0) && root->operand(1) == f->parameter(1);
  const bool crossed = root->operand(0) == f->parameter(1) && root->operand(1) == f->parameter(0);
  return straight || crossed ? root : nullptr;
}

// What op(init, x) is; x itself where init does not count.
Instruction* WithInit(const Instruction* op, Instruction* init, Instruction* x, const Shape& shape,
                      Rewriter& r) {
  if ((op->opcode() == Opcode::kAdd && IsSplat(init, 0)) ||
      (op->opcode() == Opcode::kMultiply && IsSplat(init, 1)) ||
      (op->opcode() == Opcode::kAnd && IsAllOnes(init)) ||
      (op->opcode() == Opcode::kOr && IsSplat(init, 0)))
    return x;
  if (!shape.IsScalar()) init = r.Broadcast(init, shape, {});
  return r.Clone(op, shape, {init, x});
}

// Over no dimensions: the operand, as XLA has it. Over dimensions of size one: the init value joins
// each element once.
Instruction* ReduceOfOnes(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2) return nullptr;
  if (Dims(i).empty()) return i->operand(0);
  const Shape& from = i->operand(0)->shape();
  if (from.HasDynamicDims()) return nullptr;  // of at most one there may be none
  for (int64_t d : Dims(i))
    if (from.dims[d] != 1) return nullptr;
  const Instruction* op = PlainReducer(i);
  if (op == nullptr || op->shape().type != i->shape().type) return nullptr;
  return WithInit(op, i->operand(1), r.Reshape(i->operand(0), i->shape()), i->shape(), r);
}

// The reduced dimensions of a transposed array, where those kept do not change their order.
Instruction* ReduceOfTranspose(Instruction* i, Rewriter& r) {
  const Instruction* transpose = i->operand(0);
  if (i->operand_count() != 2 || transpose->opcode() != Opcode::kTranspose) return nullptr;
  DimVector reduced;
  int64_t last = -1;
  for (int64_t d = 0; d < transpose->shape().rank(); ++d) {
    const int64_t source = Dims(transpose)[d];
    if (Contains(Dims(i), d)) {
      reduced.push_back(source);
    } else {
      if (source < last) return nullptr;
      last = source;
    }
  }
  std::sort(reduced.begin(), reduced.end());
  Instruction* made = r.Clone(i, i->shape(), {transpose->operand(0), i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = std::move(reduced);
  return made;
}

// Which dimensions of `from` the reduction of the reshaped array takes; nothing where a dimension
// that stays is split or joined.
// f32[4,6,5] reshaped to f32[24,5], reduced over {0}: {0, 1}.
std::optional<DimVector> ReducedBefore(const Shape& from, const Shape& to, const DimVector& taken) {
  DimVector reduced;
  int64_t a = 0, b = 0;
  while (a < from.rank() && b < to.rank()) {
    if (from.dims[a] == 1 && to.dims[b] != 1) {
      ++a;  // of size one and nowhere else: stays, and the reshape after drops it
      continue;
    }
    if (to.dims[b] == 1 && from.dims[a] != 1) {
      ++b;
      continue;
    }
    const int64_t a0 = a, b0 = b;
    GroupEnd(from, to, a, b);
    int64_t count = 0;
    for (int64_t d = b0; d < b; ++d) count += Contains(taken, d) || to.dims[d] == 1;
    bool any = false;
    for (int64_t d = b0; d < b; ++d) any |= Contains(taken, d);
    if (!any) continue;
    if (count != b - b0) return std::nullopt;
    for (int64_t d = a0; d < a; ++d) reduced.push_back(d);
  }
  return reduced;
}

// reduce(reshape(x)) where every dimension that stays is whole: a reduction of x.
Instruction* ReduceOfReshape(Instruction* i, Rewriter& r) {
  const Instruction* reshape = i->operand(0);
  if (i->operand_count() != 2 || reshape->opcode() != Opcode::kReshape) return nullptr;
  Instruction* x = reshape->operand(0);
  if (x->shape().ElementCount() == 0 || x->shape().HasDynamicDims()) return nullptr;
  std::optional<DimVector> reduced = ReducedBefore(x->shape(), reshape->shape(), Dims(i));
  if (!reduced || reduced->empty()) return nullptr;
  Shape kept = Shape::Array(i->shape().type, {});
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!Contains(*reduced, d)) kept.dims.push_back(x->shape().dims[d]);
  if (kept.ElementCount() != i->shape().ElementCount()) return nullptr;
  if (kept.dims != i->shape().dims && reshape->users().size() != 1) return nullptr;
  Instruction* made = r.Clone(i, kept, {x, i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = *std::move(reduced);
  return kept.dims == i->shape().dims ? made : r.Reshape(made, i->shape());
}

// reshape(reduce(x)) that drops dimensions of size one: they are reduced with the others.
Instruction* ReshapeOfReduce(Instruction* i, Rewriter& r) {
  const Instruction* reduce = i->operand(0);
  if (reduce->opcode() != Opcode::kReduce || reduce->operand_count() != 2 || reduce->IsRoot() ||
      reduce->users().size() != 1 || i->shape().rank() >= reduce->shape().rank())
    return nullptr;
  const Shape& from = reduce->operand(0)->shape();
  DimVector reduced;
  int64_t next = 0;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const bool stays = !Contains(Dims(reduce), d) && next < i->shape().rank() &&
                       from.dims[d] == i->shape().dims[next];
    if (stays) {
      ++next;
      continue;
    }
    if (!Contains(Dims(reduce), d) && (from.dims[d] != 1 || from.IsDynamic(d))) return nullptr;
    reduced.push_back(d);
  }
  if (next != i->shape().rank()) return nullptr;
  Instruction* made = r.Clone(reduce, i->shape(), {reduce->operand(0), reduce->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = std::move(reduced);
  return made;
}

// reduce of an empty array -> its initial value.
Instruction* ReduceOfNothing(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2 || i->operand(0)->shape().ElementCount() != 0) return nullptr;
  if (i->shape().IsScalar()) return i->operand(1);
  return r.Broadcast(i->operand(1), i->shape(), {});
}

// Operations for which op(x, x) = x: how often an element counts does not matter.
bool IsOrder(const Instruction* op) {
  switch (op->opcode()) {
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return true;
    default:
      return false;
  }
}

// The largest (least, and, or) of equal elements, along dimensions that a broadcast added.
Instruction* ReduceOfBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (i->operand_count() != 2 || broadcast->opcode() != Opcode::kBroadcast ||
      broadcast->shape().ElementCount() == 0)
    return nullptr;
  const Instruction* op = PlainReducer(i);
  if (op == nullptr || !IsOrder(op) || op->shape().type != i->shape().type) return nullptr;
  DimVector dims;
  for (int64_t d : broadcast->attr<BroadcastAttrs>().dimensions) {
    if (Contains(Dims(i), d)) return nullptr;
    int64_t before = 0;
    for (int64_t taken : Dims(i)) before += taken < d;
    dims.push_back(d - before);
  }
  Instruction* x = broadcast->operand(0);
  if (x->shape().dims != i->shape().dims) x = r.Broadcast(x, i->shape(), std::move(dims));
  return WithInit(op, i->operand(1), x, i->shape(), r);
}

// reduce(reduce(x)) by one function of integers, or one that only chooses.
Instruction* ReduceOfReduce(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (i->operand_count() != 2 || inner->opcode() != Opcode::kReduce ||
      inner->operand_count() != 2 || inner->users().size() != 1)
    return nullptr;
  const Instruction *a = PlainReducer(i), *b = PlainReducer(inner);
  if (a == nullptr || b == nullptr || a->opcode() != b->opcode() ||
      (IsFloat(i->shape().type) && !IsOrder(a)) || IsComplex(i->shape().type))
    return nullptr;
  const bool identity = (a->opcode() == Opcode::kAdd && IsSplat(inner->operand(1), 0)) ||
                        (a->opcode() == Opcode::kMultiply && IsSplat(inner->operand(1), 1)) ||
                        (IsOrder(a) && inner->operand(1) == i->operand(1));
  if (!identity) return nullptr;
  DimVector reduced = Dims(inner), left;
  for (int64_t d = 0; d < inner->operand(0)->shape().rank(); ++d)
    if (!Contains(Dims(inner), d)) left.push_back(d);
  for (int64_t d : Dims(i)) reduced.push_back(left[d]);
  std::sort(reduced.begin(), reduced.end());
  Instruction* made = r.Clone(i, i->shape(), {inner->operand(0), i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = std::move(reduced);
  return made;
}

// Windows of one element each.
Instruction* ReduceWindowOfOnes(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2) return nullptr;
  for (WindowDim w : i->attr<WindowAttrs>().window) {
    w.window_dilation = 1;
    if (!(w == WindowDim{})) return nullptr;
  }
  const Instruction* op = PlainReducer(i);
  if (op == nullptr || op->shape().type != i->shape().type) return nullptr;
  return WithInit(op, i->operand(1), i->operand(0), i->shape(), r);
}

// Padding by the init value is padding of the window.
Instruction* ReduceWindowOfPad(Instruction* i, Rewriter& r) {
  const Instruction* pad = i->operand(0);
  if (i->operand_count() != 2 || pad->opcode() != Opcode::kPad) return nullptr;
  const Literal *a = SplatValue(pad->operand(1)), *b = SplatValue(i->operand(1));
  if (pad->operand(1) != i->operand(1) && (a == nullptr || b == nullptr || !(*a == *b)))
    return nullptr;
  WindowAttrs attrs = i->attr<WindowAttrs>();
  for (size_t d = 0; d < attrs.window.size(); ++d) {
    if (!AbsorbPadding(pad->attr<PadAttrs>().padding[d], attrs.window[d])) return nullptr;
  }
  Instruction* made = r.Clone(i, i->shape(), {pad->operand(0), i->operand(1)});
  made->mutable_attr<WindowAttrs>() = std::move(attrs);
  return made;
}

// Nothing to add up.
Instruction* DotOfNothing(Instruction* i, Rewriter& r) {
  for (int64_t d : i->attr<DotAttrs>().lhs_contracting_dims)
    if (i->operand(0)->shape().dims[d] == 0) return r.Splat(i->shape(), 0);
  return nullptr;
}

// get-dimension-size of a static dimension -> constant.
Instruction* GetStaticSize(Instruction* i, Rewriter& r) {
  const Shape& of = i->operand(0)->shape();
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  if (of.IsDynamic(d) || i->shape().type != ElementType::kS32) return nullptr;
  return r.Constant(Literal::R0<int32_t>(static_cast<int32_t>(of.dims[d])));
}

constexpr Rule kReduceRules[] = {
    {"reduce-of-ones", Opcode::kReduce, ReduceOfOnes},
    {"reduce-of-transpose", Opcode::kReduce, ReduceOfTranspose},
    {"reduce-of-reshape", Opcode::kReduce, ReduceOfReshape},
    {"reshape-of-reduce", Opcode::kReshape, ReshapeOfReduce},
    {"reduce-of-nothing", Opcode::kReduce, ReduceOfNothing},
    {"reduce-of-broadcast", Opcode::kReduce, ReduceOfBroadcast},
    {"reduce-of-reduce", Opcode::kReduce, ReduceOfReduce},
    {"reduce-window-of-ones", Opcode::kReduceWindow, ReduceWindowOfOnes},
    {"reduce-window-of-pad", Opcode::kReduceWindow, ReduceWindowOfPad},
    {"dot-of-nothing", Opcode::kDot, DotOfNothing},
    {"get-static-size", Opcode::kGetDimensionSize, GetStaticSize},
};

}  // namespace

absl::Span<const Rule> ReduceRules() { return kReduceRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
