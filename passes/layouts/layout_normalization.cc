// layout_normalization: rewrites instructions so that all arrays have the default (major-to-minor)
// layout.
// Matches elementwise operations, movements and single reductions whose arrays lie in other orders
// than the row-major one: computes them on arrays of permuted dimensions that are row-major, with
// bitcasts around those whose order is fixed from outside; copies that change an order become
// transposes, and transposes that move nothing bitcasts. What else there is stays, as do packed
// types, tiles and dynamic dimensions. Exact. Cost: linear.
//   f32[8,16]{0,1} exponential(x)   ->   bitcast(f32[16,8]{1,0} exponential(bitcast(x)))
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && shape.has_layout && !shape.HasDynamicDims() &&
         shape.layout.extras == nullptr;
}

// The dimensions from the slowest to the fastest in memory.
DimVector Order(const Shape& shape) {
  DimVector order = shape.MinorToMajor();
  std::reverse(order.begin(), order.end());
  return order;
}

DimVector Inverse(const DimVector& order) {
  DimVector inverse(order.size());
  for (size_t k = 0; k < order.size(); ++k) inverse[order[k]] = static_cast<int64_t>(k);
  return inverse;
}

// The same bytes as a row-major array.
Shape RowMajorForm(const Shape& shape) {
  Shape form = shape;
  const DimVector order = Order(shape);
  for (size_t k = 0; k < order.size(); ++k) form.dims[k] = shape.dims[order[k]];
  return form.WithDefaultLayout();
}

bool IsNormal(const Shape& shape) { return IsIota(Order(shape)); }

Instruction* Normal(Instruction* x, Rewriter& r) {
  const Shape form = RowMajorForm(x->shape());
  if (x->shape() == form) return x;
  if (x->opcode() == Opcode::kBitcast && x->operand(0)->shape() == form) return x->operand(0);
  return r.Add(Opcode::kBitcast, form, {x});
}

template <typename List>
List Permuted(const List& list, const DimVector& order) {
  List permuted = list;
  for (size_t k = 0; k < order.size(); ++k) permuted[k] = list[order[k]];
  return permuted;
}

// A transpose of row-major arrays, or a bitcast where only dimensions of size one move.
Instruction* Transposed(Instruction* x, const Shape& shape, DimVector permutation, Rewriter& r) {
  int64_t last = -1;
  bool moves = false;
  for (const int64_t d : permutation) {
    if (x->shape().dims[d] == 1) continue;
    moves |= d < last;
    last = d;
  }
  if (!moves) return x->shape() == shape ? x : r.Add(Opcode::kBitcast, shape, {x});
  return r.Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{std::move(permutation)});
}

bool HaveOneOrder(const Instruction* i) {
  const DimVector order = Order(i->shape());
  return std::all_of(i->operands().begin(), i->operands().end(), [&](const Instruction* x) {
    return IsPlain(x->shape()) && (x->shape().IsScalar() || Order(x->shape()) == order);
  });
}

Instruction* OnNormalOperands(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> operands;
  for (Instruction* x : i->operands()) operands.push_back(Normal(x, r));
  return r.Clone(i, RowMajorForm(i->shape()), operands);
}

// Of operations whose result and operands lie alike.
Instruction* Alike(Instruction* i, Rewriter& r) {
  if (!HaveOneOrder(i)) return nullptr;
  const DimVector order = Order(i->shape()), place = Inverse(order);
  Instruction* made = OnNormalOperands(i, r);
  switch (i->opcode()) {
    case Opcode::kConcatenate:
    case Opcode::kReverse: {
      DimVector& dims = made->mutable_attr<DimensionsAttrs>().dimensions;
      for (int64_t& d : dims) d = place[d];
      std::sort(dims.begin(), dims.end());
      break;
    }
    case Opcode::kSlice:
      made->mutable_attr<SliceAttrs>().slice = Permuted(i->attr<SliceAttrs>().slice, order);
      break;
    case Opcode::kPad:
      made->mutable_attr<PadAttrs>().padding = Permuted(i->attr<PadAttrs>().padding, order);
      break;
    case Opcode::kIota:
      made->mutable_attr<IotaAttrs>().iota_dimension = place[i->attr<IotaAttrs>().iota_dimension];
      break;
    default:
      break;
  }
  return made;
}

Instruction* NormalTranspose(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  const DimVector from = Inverse(Order(x->shape())), to = Order(i->shape());
  DimVector permutation;
  for (const int64_t d : to) {
    const int64_t moved =
        i->opcode() == Opcode::kCopy ? d : i->attr<DimensionsAttrs>().dimensions[d];
    permutation.push_back(from[moved]);
  }
  return Transposed(Normal(x, r), RowMajorForm(i->shape()), permutation, r);
}

Instruction* NormalBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  const DimVector place = Inverse(Order(i->shape())), from = Order(x->shape());
  Instruction* made = OnNormalOperands(i, r);
  DimVector& where = made->mutable_attr<BroadcastAttrs>().dimensions;
  const DimVector old = where;
  for (size_t k = 0; k < from.size(); ++k) where[k] = place[old[from[k]]];
  return made;
}

// Where the result lies as the operand does without what is reduced.
Instruction* NormalReduce(Instruction* i, Rewriter& r) {
  const Shape& x = i->operand(0)->shape();
  const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
  DimVector kept, left;  // of the operand: dimensions that stay, in their order; in memory's
  for (int64_t d = 0; d < x.rank(); ++d)
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) kept.push_back(d);
  for (const int64_t d : Order(x)) {
    const auto at = std::find(kept.begin(), kept.end(), d);
    if (at != kept.end()) left.push_back(at - kept.begin());
  }
  if (left != Order(i->shape())) return nullptr;
  const DimVector place = Inverse(Order(x));
  Instruction* made = OnNormalOperands(i, r);
  DimVector& dims = made->mutable_attr<DimensionsAttrs>().dimensions;
  for (int64_t& d : dims) d = place[d];
  std::sort(dims.begin(), dims.end());
  return made;
}

Instruction* NormalForm(Instruction* i, Rewriter& r) {
  switch (i->opcode()) {
    case Opcode::kCopy:
    case Opcode::kTranspose:
      return NormalTranspose(i, r);
    case Opcode::kBroadcast:
      return NormalBroadcast(i, r);
    case Opcode::kReduce:
      return i->operand_count() == 2 ? NormalReduce(i, r) : nullptr;
    case Opcode::kConcatenate:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kIota:
      return Alike(i, r);
    default:
      return HasTrait(i->opcode(), kElementwise) && i->opcode() != Opcode::kBitcastConvert
                 ? Alike(i, r)
                 : nullptr;
  }
}

Made Normalize(Instruction* i, Rewriter& r) {
  if (!IsPlain(i->shape())) return nullptr;
  bool normal = IsNormal(i->shape());
  for (const Instruction* x : i->operands()) {
    if (!IsPlain(x->shape())) return nullptr;
    normal &= IsNormal(x->shape());
  }
  if (normal) return nullptr;
  Instruction* made = NormalForm(i, r);
  if (made == nullptr || made->shape() == i->shape()) return made;
  return r.Add(Opcode::kBitcast, i->shape(), {made});
}

}  // namespace

std::unique_ptr<Pass> CreateLayoutNormalization() {
  return MakeExpander("layout_normalization", Normalize);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
