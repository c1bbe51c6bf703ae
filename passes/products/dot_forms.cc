// Forms of dots that some targets want.
//
// Dots in other forms.
#include <algorithm>
#include <numeric>

#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/unmoved.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsStaticDot(const Instruction* i) {
  return i->opcode() == Opcode::kDot && i->operand_count() == 2 && !i->shape().HasDynamicDims() &&
         !i->operand(0)->shape().HasDynamicDims() && !i->operand(1)->shape().HasDynamicDims();
}

Made ContractOne(Instruction* i, Rewriter& r) {
  if (!IsStaticDot(i)) return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  if (!attrs.lhs_contracting_dims.empty()) return nullptr;
  Instruction* sides[2];
  for (int64_t k = 0; k < 2; ++k) {
    DimVector dims = i->operand(k)->shape().dims;
    (k == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims)
        .push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(1);
    sides[k] = BitcastTo(r, i->operand(k), dims);
  }
  Instruction* dot = r.Clone(i, i->shape(), {sides[0], sides[1]});
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  return dot;
}

Made SortContracted(Instruction* i, Rewriter& r) {
  if (!IsStaticDot(i)) return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  DimVector& lhs = attrs.lhs_contracting_dims;
  DimVector& rhs = attrs.rhs_contracting_dims;
  if (std::is_sorted(lhs.begin(), lhs.end()) || std::is_sorted(rhs.begin(), rhs.end()))
    return nullptr;
  std::vector<size_t> order(lhs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lhs[a] < lhs[b]; });
  DimVector left, right;
  for (size_t k : order) {
    left.push_back(lhs[k]);
    right.push_back(rhs[k]);
  }
  lhs = std::move(left);
  rhs = std::move(right);
  Instruction* dot = r.Clone(i, i->shape(), {i->operand(0), i->operand(1)});
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  return dot;
}

// One side of a dot with its dimensions in the order batches, its own, contracted.
Instruction* InOrder(Rewriter& r, Instruction* x, const DimVector& batch,
                     const DimVector& contracted) {
  DimVector order = batch;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!Contains(batch, d) && !Contains(contracted, d)) order.push_back(d);
  order.insert(order.end(), contracted.begin(), contracted.end());
  return TransposeUnmoved(r, x, order);
}

// `few`, which has no dimension of its own, as an array of the dimensions of `full`.
Instruction* Spread(Rewriter& r, Instruction* few, const Shape& full, size_t batches) {
  if (few->shape().rank() == full.rank()) return few;
  DimVector where(few->shape().rank());
  const int64_t own = full.rank() - few->shape().rank();
  for (size_t d = 0; d < where.size(); ++d)
    where[d] = static_cast<int64_t>(d) + (d < batches ? 0 : own);
  return BroadcastUnmoved(r, few, full.dims, where);
}

// Whether the algorithm asks for no more than products and sums in the result's type.
bool IsOwnAlgorithm(const DotAttrs& attrs, ElementType type) {
  if (attrs.algorithm.text.empty()) return true;
  const std::string own(Text(type));
  return attrs.algorithm.text == absl::StrCat("dot_", own, "_", own, "_", own);
}

// Dots whose larger side has `least` elements and whose other one has no dimension of its own but
// of size one, without these.
Made WithoutUnits(Instruction* i, Rewriter& r, int64_t least) {
  const ElementType type = i->shape().type;
  if (!IsStaticDot(i) || !i->shape().IsRowMajor() || !(IsFloat(type) || IsInteger(type)))
    return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  if (attrs.lhs_contracting_dims.empty() || !IsOwnAlgorithm(attrs, type)) return nullptr;
  Instruction* sides[2] = {i->operand(0), i->operand(1)};
  if (std::max(sides[0]->shape().ElementCount(), sides[1]->shape().ElementCount()) < least)
    return nullptr;
  int64_t vectors = 0;
  for (int64_t k = 0; k < 2; ++k) {
    const Shape& shape = sides[k]->shape();
    DimVector& batch = k == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
    DimVector& summed = k == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
    int64_t own = 1;
    DimVector dims, now(static_cast<size_t>(shape.rank()));
    for (int64_t d = 0; d < shape.rank(); ++d) {
      now[d] = static_cast<int64_t>(dims.size());
      const bool is_own = !Contains(batch, d) && !Contains(summed, d);
      if (is_own) own *= shape.dims[d];
      if (!is_own || shape.dims[d] != 1) dims.push_back(shape.dims[d]);
    }
    vectors += own == 1 ? 1 : 0;
    for (DimVector* named : {&batch, &summed})
      for (int64_t& d : *named) d = now[d];
    sides[k] = BitcastTo(r, sides[k], dims);
  }
  if (vectors == 0) return nullptr;
  DimVector dims;
  for (int64_t d = 0; d < i->shape().rank(); ++d)
    if (i->shape().dims[d] != 1 || d < static_cast<int64_t>(attrs.lhs_batch_dims.size()))
      dims.push_back(i->shape().dims[d]);
  Instruction* const dot = r.Clone(i, RowMajor(type, dims), {sides[0], sides[1]});
  attrs.operand_precision.clear();  // products of f32 are exact sums of f32 here
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  return dot;
}

// The product and sum of a dot of WithoutUnits, without turning the larger side.
Made AddUpInPlace(Instruction* i, Rewriter& r) {
  const auto& attrs = i->attr<DotAttrs>();
  const auto own = [&](int64_t k) {
    return i->operand(k)->shape().rank() -
           static_cast<int64_t>(attrs.lhs_batch_dims.size() + attrs.lhs_contracting_dims.size());
  };
  const int64_t full = own(0) > 0 ? 0 : 1;  // the other one is a vector
  if (own(1 - full) > 0) return nullptr;
  const DimVector* batch[2] = {&attrs.lhs_batch_dims, &attrs.rhs_batch_dims};
  const DimVector* summed[2] = {&attrs.lhs_contracting_dims, &attrs.rhs_contracting_dims};
  for (size_t k = 0; k < batch[full]->size(); ++k)
    if ((*batch[full])[k] != static_cast<int64_t>(k)) return nullptr;
  const ElementType type = i->shape().type;
  const ElementType wide = IsFloat(type) && BitWidth(type) < 32 ? ElementType::kF32 : type;
  HloWriter w(r);
  Instruction* const x = w.Convert(i->operand(full), wide);
  Instruction* const y = w.Convert(i->operand(1 - full), wide);
  DimVector where(y->shape().rank());
  for (const auto* dims : {batch, summed})
    for (size_t k = 0; k < dims[full]->size(); ++k) where[(*dims[1 - full])[k]] = (*dims[full])[k];
  if (!std::is_sorted(where.begin(), where.end())) return nullptr;
  Instruction* const products =
      w.Binary(Opcode::kMultiply, x, BroadcastUnmoved(r, y, x->shape().dims, where));
  Instruction* const sum = w.Reduce(products, w.Integer(wide, 0), *summed[full],
                                    MakeReducer(*i->module(), Opcode::kAdd, wide));
  return w.Convert(sum, type);
}

Made AddUp(Instruction* i, Rewriter& r) {
  if (!IsStaticDot(i) || IsPred(i->shape().type)) return nullptr;
  const auto& attrs = i->attr<DotAttrs>();
  const ElementType type = i->shape().type;
  if (attrs.lhs_contracting_dims.empty() || !attrs.operand_precision.empty() ||
      !IsOwnAlgorithm(attrs, type))
    return nullptr;
  const size_t batches = attrs.lhs_batch_dims.size();
  const auto named = static_cast<int64_t>(batches + attrs.lhs_contracting_dims.size());
  if (i->operand(0)->shape().rank() != named && i->operand(1)->shape().rank() != named)
    return nullptr;
  HloWriter w(r);
  const ElementType wide = IsFloat(type) && BitWidth(type) < 32 ? ElementType::kF32 : type;
  const auto converted = [&](int64_t k) { return w.Convert(i->operand(k), wide); };
  Instruction* lhs = InOrder(r, converted(0), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  Instruction* rhs = InOrder(r, converted(1), attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  if (lhs->shape().rank() < rhs->shape().rank())
    lhs = Spread(r, lhs, rhs->shape(), batches);
  else
    rhs = Spread(r, rhs, lhs->shape(), batches);
  Instruction* products = w.Binary(Opcode::kMultiply, lhs, rhs);
  DimVector summed;
  for (size_t k = 0; k < attrs.lhs_contracting_dims.size(); ++k)
    summed.push_back(lhs->shape().rank() - static_cast<int64_t>(attrs.lhs_contracting_dims.size()) +
                     static_cast<int64_t>(k));
  Instruction* sum =
      w.Reduce(products, w.Integer(wide, 0), summed, MakeReducer(*i->module(), Opcode::kAdd, wide));
  sum->set_shape(i->shape().WithType(wide));
  return w.Convert(sum, type);
}

// `x` at place `at` of dimension `d`, without it.
Instruction* WithoutDim(HloWriter& w, Instruction* x, int64_t d, int64_t at) {
  DimVector dims = x->shape().dims;
  SliceSpec slice;
  for (const int64_t size : dims) slice.push_back({0, size, 1});
  slice[d] = {at, at + 1, 1};
  dims.erase(dims.begin() + d);
  return w.Reshape(w.Slice(x, slice), dims);
}

// The only dimension of side k that is neither batched nor summed; -1 where there is another number
// of them.
int64_t OwnDim(const Instruction& dot, int64_t k) {
  const auto& attrs = dot.attr<DotAttrs>();
  int64_t own = -1;
  for (int64_t d = 0; d < dot.operand(k)->shape().rank(); ++d) {
    if (Contains(k == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims, d) ||
        Contains(k == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims, d))
      continue;
    if (own >= 0) return -1;
    own = d;
  }
  return own;
}

// A dot of `few` rows or columns at most by a matrix as so many of vectors, side by side:
// multi_output_fusion makes one reading of the matrix do for all.
Made AsVectors(Instruction* i, Rewriter& r, int64_t least, int64_t few) {
  if (!IsStaticDot(i) || !i->shape().IsRowMajor()) return nullptr;
  const auto elements = [&](int64_t k) { return i->operand(k)->shape().ElementCount(); };
  const int64_t side = elements(0) <= elements(1) ? 0 : 1, own = OwnDim(*i, side);
  if (own < 0 || elements(1 - side) < least) return nullptr;
  const int64_t count = i->operand(side)->shape().dims[own];
  if (count < 2 || count > few) return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  for (DimVector* named : {side == 0 ? &attrs.lhs_batch_dims : &attrs.rhs_batch_dims,
                           side == 0 ? &attrs.lhs_contracting_dims : &attrs.rhs_contracting_dims})
    for (int64_t& d : *named) d -= d > own ? 1 : 0;
  const auto out = static_cast<int64_t>(side == 0 ? attrs.lhs_batch_dims.size()
                                                  : static_cast<size_t>(i->shape().rank() - 1));
  HloWriter w(r);
  DimVector dims = i->shape().dims, unit = dims;
  dims.erase(dims.begin() + out);
  unit[out] = 1;
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < count; ++k) {
    Instruction* const vector = WithoutDim(w, i->operand(side), own, k);
    Instruction* const dot =
        r.Clone(i, RowMajor(i->shape().type, dims),
                {side == 0 ? vector : i->operand(0), side == 0 ? i->operand(1) : vector});
    dot->mutable_attr<DotAttrs>() = attrs;
    ASSIGN_OR_RETURN(Instruction* const plain, WithoutUnits(dot, r, least));
    if (plain == nullptr) return nullptr;
    ASSIGN_OR_RETURN(Instruction* const sum, AddUpInPlace(plain, r));
    if (sum == nullptr) return nullptr;
    parts.push_back(BitcastTo(r, sum, unit));
  }
  return w.Concatenate(parts, out);
}

// `x` with zeros at the end of dimension d, as many as make it a multiple of `step`.
Instruction* PadTo(HloWriter& w, Instruction* x, int64_t d, int64_t step) {
  if (x->shape().dims[d] % step == 0) return x;
  PaddingConfig padding(x->shape().rank());
  padding[d].high = (step - x->shape().dims[d] % step) % step;
  return w.Pad(x, w.Integer(x->shape().type, 0), std::move(padding));
}

// `x` with dimension d as two, of which the outer one, of `parts`, comes first of all.
Instruction* CutInFront(HloWriter& w, Instruction* x, int64_t d, int64_t parts) {
  DimVector dims = x->shape().dims, order = {d};
  dims[d] /= parts;
  dims.insert(dims.begin() + d, parts);
  for (int64_t k = 0; k < static_cast<int64_t>(dims.size()); ++k)
    if (k != d) order.push_back(k);
  return w.Transpose(w.Reshape(x, dims), order);
}

Made SplitContracted(Instruction* i, Rewriter& r, int64_t least, int64_t parts) {
  constexpr int64_t kLargestResult = 65'536;
  const ElementType type = i->shape().type;
  if (!IsStaticDot(i) || parts < 2 || IsComplex(type) || IsPred(type) || BitWidth(type) < 32)
    return nullptr;
  DotAttrs attrs = i->attr<DotAttrs>();
  if (attrs.lhs_contracting_dims.size() != 1 || i->shape().ElementCount() > kLargestResult)
    return nullptr;
  const int64_t a = attrs.lhs_contracting_dims[0], b = attrs.rhs_contracting_dims[0];
  const int64_t size = i->operand(0)->shape().dims[a];
  if (size < least) return nullptr;
  HloWriter w(r);
  // Parts of a whole number of vectors, where they have to be padded at all.
  const int64_t step = size % parts == 0 ? parts : parts * 32;
  Instruction* x = CutInFront(w, PadTo(w, i->operand(0), a, step), a, parts);
  Instruction* y = CutInFront(w, PadTo(w, i->operand(1), b, step), b, parts);
  for (DimVector* dims : {&attrs.lhs_batch_dims, &attrs.lhs_contracting_dims, &attrs.rhs_batch_dims,
                          &attrs.rhs_contracting_dims})
    for (int64_t& d : *dims) ++d;
  attrs.lhs_batch_dims.insert(attrs.lhs_batch_dims.begin(), 0);
  attrs.rhs_batch_dims.insert(attrs.rhs_batch_dims.begin(), 0);
  DimVector dims = i->shape().dims;
  dims.insert(dims.begin(), parts);
  Instruction* dot = r.Clone(i, RowMajor(type, dims), {x, y});
  dot->mutable_attr<DotAttrs>() = std::move(attrs);
  Instruction* sum =
      w.Reduce(dot, w.Integer(type, 0), {0}, MakeReducer(*i->module(), Opcode::kAdd, type));
  if (SameShape(sum->shape(), i->shape())) return sum;
  return r.Add(Opcode::kCopy, i->shape(), {sum});
}

}  // namespace

// splitk-rewriter: dots of real numbers with one contracted dimension that is long (`least`
// elements, 8192) and whose result is small (at most 65,536 elements) contract it in parts
// (`parts`, 16), side by side as a batch, and add these up; zeros are added where it cannot be
// divided. Reassociates floats.
std::unique_ptr<Pass> CreateSplitKRewriter(PassArguments& arguments) {
  const int64_t least =
      arguments.Int("least", 8192, "elements from which on they are contracted in parts");
  const int64_t parts = arguments.Int("parts", 16, "how many");
  return MakeExpander("splitk-rewriter", [least, parts](Instruction* i, Rewriter& r) {
    return SplitContracted(i, r, std::max<int64_t>(least, 1), parts);
  });
}

// dot_normalizer: dots that contract nothing contract a dimension of size one. Exact.
std::unique_ptr<Pass> CreateDotNormalizer() { return MakeExpander("dot_normalizer", ContractOne); }

// dot_dimension_sorter: where neither side names its contracted dimensions in ascending order, the
// left one does, and the right one follows. Adds up the same products.
std::unique_ptr<Pass> CreateDotDimensionSorter() {
  return MakeExpander("dot_dimension_sorter", SortContracted);
}

// dot-strength-reduction: dots with a side that has no dimension of its own (vectors, and matrices
// by vectors) become products and a sum, of bf16, f16 and narrower floats in f32 (XLA's multiplies
// these in their own type, which rounds each product). Dots of another algorithm than that stay.
// The order of the sum is the reduction's. With `least`, only those whose larger side has so many
// elements, whatever precision they ask for, and dimensions of size one count as none. With `few`,
// those of up to so many rows or columns, too, as so many vectors.
std::unique_ptr<Pass> CreateDotStrengthReduction(PassArguments& arguments) {
  const int64_t least = arguments.Int("least", 0, "elements of the larger side, if not all dots");
  const int64_t few = arguments.Int("few", 0, "rows or columns, with `least`");
  if (least <= 0) return MakeExpander("dot-strength-reduction", AddUp);
  return MakeExpander("dot-strength-reduction", [least, few](Instruction* i, Rewriter& r) -> Made {
    ASSIGN_OR_RETURN(Instruction* const plain, WithoutUnits(i, r, least));
    if (plain == nullptr) return AsVectors(i, r, least, few);
    ASSIGN_OR_RETURN(Instruction* const sum, AddUpInPlace(plain, r));
    return sum == nullptr ? nullptr : BitcastTo(r, sum, i->shape().dims);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
