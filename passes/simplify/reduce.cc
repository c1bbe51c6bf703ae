// Rules of reductions and dots.
#include <algorithm>

#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

const DimVector& Dims(const Instruction* i) { return i->attr<DimensionsAttrs>().dimensions; }
bool Contains(const DimVector& list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// The op of a reducer that is one op of its two parameters.
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

// Over nothing, or over dimensions of size one: the init value joins each element once.
Instruction* ReduceOfOnes(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2) return nullptr;
  const Shape& from = i->operand(0)->shape();
  for (int64_t d : Dims(i))
    if (from.dims[d] != 1) return nullptr;
  const Instruction* op = PlainReducer(i);
  if (op == nullptr || op->shape().type != i->shape().type) return nullptr;
  Instruction* x = Dims(i).empty() ? i->operand(0) : r.Reshape(i->operand(0), i->shape());
  const Instruction* init = i->operand(1);
  if ((op->opcode() == Opcode::kAdd && IsSplat(init, 0)) ||
      (op->opcode() == Opcode::kMultiply && IsSplat(init, 1)) ||
      (op->opcode() == Opcode::kAnd && IsAllOnes(init)) ||
      (op->opcode() == Opcode::kOr && IsSplat(init, 0)))
    return x;
  Instruction* start = i->operand(1);
  if (!i->shape().IsScalar()) start = r.Broadcast(start, i->shape(), {});
  return r.Clone(op, i->shape(), {start, x});
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

// reduce(reshape(x)) where the reshape only adds or drops dimensions of size one.
Instruction* ReduceOfReshape(Instruction* i, Rewriter& r) {
  const Instruction* reshape = i->operand(0);
  if (i->operand_count() != 2 || reshape->opcode() != Opcode::kReshape) return nullptr;
  Instruction* x = reshape->operand(0);
  if (!SameWithoutOnes(x->shape(), reshape->shape()) || x->shape().ElementCount() == 0)
    return nullptr;
  const DimVector map = MapWithoutOnes(x->shape(), reshape->shape());
  DimVector reduced;
  Shape kept = Shape::Array(i->shape().type, {});
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (map[d] >= 0 && Contains(Dims(i), map[d])) {
      reduced.push_back(d);
    } else {
      kept.dims.push_back(x->shape().dims[d]);
    }
  }
  if (reduced.empty()) return nullptr;
  Instruction* made = r.Clone(i, kept, {x, i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = std::move(reduced);
  return kept.dims == i->shape().dims ? made : r.Reshape(made, i->shape());
}

// Nothing to add up.
Instruction* DotOfNothing(Instruction* i, Rewriter& r) {
  for (int64_t d : i->attr<DotAttrs>().lhs_contracting_dims)
    if (i->operand(0)->shape().dims[d] == 0) return r.Splat(i->shape(), 0);
  return nullptr;
}

Instruction* GetStaticSize(Instruction* i, Rewriter& r) {
  const Shape& of = i->operand(0)->shape();
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  if (of.IsDynamic(d) || i->shape().type != ElementType::kS32) return nullptr;
  return r.Constant(Literal::R0<int32_t>(static_cast<int32_t>(of.dims[d])));
}

constexpr Rule kRules[] = {
    {"reduce-of-ones", Opcode::kReduce, ReduceOfOnes},
    {"reduce-of-transpose", Opcode::kReduce, ReduceOfTranspose},
    {"reduce-of-reshape", Opcode::kReduce, ReduceOfReshape},
    {"dot-of-nothing", Opcode::kDot, DotOfNothing},
    {"get-static-size", Opcode::kGetDimensionSize, GetStaticSize},
};

}  // namespace

absl::Span<const Rule> ReduceRules() { return kRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
