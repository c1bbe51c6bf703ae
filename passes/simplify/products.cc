// Rules of dots and convolutions.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// Where the dimensions of one operand of a dot go in its result; -1 for contracted ones.
DimVector ResultDims(const Instruction* dot, int side) {
  const DotAttrs& attrs = dot->attr<DotAttrs>();
  const DimVector& batch = side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
  const DimVector& taken = side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
  const auto taken_lhs = attrs.lhs_contracting_dims.size() + attrs.lhs_batch_dims.size();
  int64_t next = static_cast<int64_t>(batch.size());
  if (side == 1) next += dot->operand(0)->shape().rank() - static_cast<int64_t>(taken_lhs);
  DimVector places(dot->operand(side)->shape().rank(), -1);
  for (size_t b = 0; b < batch.size(); ++b) places[batch[b]] = static_cast<int64_t>(b);
  for (size_t d = 0; d < places.size(); ++d)
    if (places[d] < 0 && !Contains(taken, static_cast<int64_t>(d))) places[d] = next++;
  return places;
}

// One operand spread over the result, without the contracted dimensions, which are of size one.
Instruction* Spread(const Instruction* dot, int side, Rewriter& r) {
  Instruction* x = dot->operand(side);
  const DimVector places = ResultDims(dot, side);
  DimVector dims;
  Shape kept = Shape::Array(x->shape().type, {});
  for (size_t d = 0; d < places.size(); ++d) {
    if (places[d] < 0) continue;
    dims.push_back(places[d]);
    kept.dims.push_back(x->shape().dims[d]);
  }
  if (kept.rank() != x->shape().rank()) x = r.Reshape(x, kept);
  return r.Broadcast(x, dot->shape(), std::move(dims));
}

// A dot that adds up one product each is a multiplication.
Instruction* OuterProduct(Instruction* i, Rewriter& r) {
  const DotAttrs& attrs = i->attr<DotAttrs>();
  if (i->operand_count() != 2 || !attrs.algorithm.text.empty() || IsPred(i->shape().type))
    return nullptr;
  for (int64_t d : attrs.lhs_contracting_dims)
    if (i->operand(0)->shape().dims[d] != 1) return nullptr;
  for (int side : {0, 1}) {
    const Shape& shape = i->operand(side)->shape();
    if (shape.type != i->shape().type || !shape.IsRowMajor()) return nullptr;
  }
  return r.Add(Opcode::kMultiply, i->shape(), {Spread(i, 0, r), Spread(i, 1, r)});
}

// The transpose of a dot's own dimensions, left before right, is the dot of its sides the other way
// round.
Instruction* TransposeOfDot(Instruction* i, Rewriter& r) {
  const Instruction* dot = i->operand(0);
  if (dot->opcode() != Opcode::kDot || dot->operand_count() != 2 || dot->users().size() != 1 ||
      dot->IsRoot())
    return nullptr;
  DotAttrs attrs = dot->attr<DotAttrs>();
  const auto batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  const int64_t left = dot->operand(0)->shape().rank() - batch -
                       static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  const int64_t rank = dot->shape().rank();
  const DimVector& order = i->attr<DimensionsAttrs>().dimensions;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t right = rank - batch - left, free = d - batch;
    const int64_t from = d < batch ? d : free < right ? batch + left + free : d - right;
    if (order[d] != from) return nullptr;
  }
  std::swap(attrs.lhs_batch_dims, attrs.rhs_batch_dims);
  std::swap(attrs.lhs_contracting_dims, attrs.rhs_contracting_dims);
  std::reverse(attrs.operand_precision.begin(), attrs.operand_precision.end());
  Instruction* made = r.Clone(dot, i->shape(), {dot->operand(1), dot->operand(0)});
  made->mutable_attr<DotAttrs>() = std::move(attrs);
  return made;
}

// The dimensions of a dot's sides other way round, for another dot that reads it.
struct SwappedDims {
  int64_t batch, left, right;
  int64_t operator()(int64_t d) const {
    if (d < batch) return d;
    return d < batch + left ? d + right : d - left;
  }
};

// Where a dot's batch is all that the right side of an inner one gives, the inner one gives it
// first: its sides change places.
Instruction* DotOfBatchLast(Instruction* i, Rewriter& r) {
  for (int side : {0, 1}) {
    const Instruction* inner = i->operand(side);
    if (inner->opcode() != Opcode::kDot || inner->operand_count() != 2 || i->operand_count() != 2 ||
        inner->users().size() != 1 || inner->IsRoot() || !inner->shape().IsRowMajor())
      continue;
    DotAttrs made = inner->attr<DotAttrs>(), attrs = i->attr<DotAttrs>();
    const auto taken =
        static_cast<int64_t>(made.lhs_batch_dims.size() + made.lhs_contracting_dims.size());
    const SwappedDims swapped{static_cast<int64_t>(made.lhs_batch_dims.size()),
                              inner->operand(0)->shape().rank() - taken,
                              inner->operand(1)->shape().rank() - taken};
    DimVector& batch = side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
    DimVector& sums = side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
    if (swapped.batch != 0 || swapped.left == 0 || batch.empty() ||
        static_cast<int64_t>(batch.size()) != swapped.right ||
        *std::min_element(batch.begin(), batch.end()) < swapped.left)
      continue;
    for (DimVector* dims : {&batch, &sums})
      for (int64_t& d : *dims) d = swapped(d);
    Shape shape = inner->shape();
    for (int64_t d = 0; d < shape.rank(); ++d) shape.dims[swapped(d)] = inner->shape().dims[d];
    std::swap(made.lhs_contracting_dims, made.rhs_contracting_dims);
    std::reverse(made.operand_precision.begin(), made.operand_precision.end());
    Instruction* first = r.Clone(inner, shape, {inner->operand(1), inner->operand(0)});
    first->mutable_attr<DotAttrs>() = std::move(made);
    Instruction* operands[] = {i->operand(0), i->operand(1)};
    operands[side] = first;
    Instruction* outer = r.Clone(i, i->shape(), operands);
    outer->mutable_attr<DotAttrs>() = std::move(attrs);
    return outer;
  }
  return nullptr;
}

// A convolution of an image that has been padded by zeros in space pads for itself.
Instruction* ConvolutionOfPad(Instruction* i, Rewriter& r) {
  const Instruction* pad = i->operand(0);
  if (pad->opcode() != Opcode::kPad || !IsSplat(pad->operand(1), 0)) return nullptr;
  const PaddingConfig& padding = pad->attr<PadAttrs>().padding;
  ConvolutionAttrs attrs = i->attr<ConvolutionAttrs>();
  for (int64_t d : {attrs.dim_labels.input_batch, attrs.dim_labels.input_feature})
    if (!(padding[d] == PaddingDim{})) return nullptr;
  for (size_t s = 0; s < attrs.window.size(); ++s) {
    if (!AbsorbPadding(padding[attrs.dim_labels.input_spatial[s]], attrs.window[s])) return nullptr;
  }
  Instruction* made = r.Clone(i, i->shape(), {pad->operand(0), i->operand(1)});
  made->mutable_attr<ConvolutionAttrs>() = std::move(attrs);
  return made;
}

constexpr Rule kProductRules[] = {
    {"dot-outer-product", Opcode::kDot, OuterProduct},
    {"dot-of-batch-last", Opcode::kDot, DotOfBatchLast},
    {"transpose-of-dot", Opcode::kTranspose, TransposeOfDot},
    {"convolution-of-pad", Opcode::kConvolution, ConvolutionOfPad},
};

}  // namespace

absl::Span<const Rule> ProductRules() { return kProductRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
