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
  HloWriter w(r);
  Instruction* sides[2];
  for (int64_t k = 0; k < 2; ++k) {
    DimVector dims = i->operand(k)->shape().dims;
    (k == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims)
        .push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(1);
    sides[k] = w.Reshape(i->operand(k), dims);
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

// Where each dimension of the short side lies in the long one; all are batched or contracted.
DimVector PlacesIn(const DotAttrs& attrs, bool short_is_rhs, int64_t rank) {
  DimVector places(rank, -1);
  const auto add = [&](const DimVector& lhs, const DimVector& rhs) {
    for (size_t k = 0; k < lhs.size(); ++k)
      places[short_is_rhs ? rhs[k] : lhs[k]] = short_is_rhs ? lhs[k] : rhs[k];
  };
  add(attrs.lhs_batch_dims, attrs.rhs_batch_dims);
  add(attrs.lhs_contracting_dims, attrs.rhs_contracting_dims);
  return places;
}

// `x` with its dimensions where `places` says, of an array of `dims`.
Instruction* Spread(HloWriter& w, Instruction* x, const DimVector& places, const DimVector& dims) {
  DimVector order(places.size()), sorted = places;
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  std::sort(sorted.begin(), sorted.end());
  return w.Broadcast(w.Transpose(x, order), dims, sorted);
}

Made AddUp(Instruction* i, Rewriter& r) {
  if (!IsStaticDot(i) || IsComplex(i->shape().type) || IsPred(i->shape().type)) return nullptr;
  const auto& attrs = i->attr<DotAttrs>();
  if (attrs.lhs_contracting_dims.empty() || !attrs.operand_precision.empty()) return nullptr;
  const auto named =
      static_cast<int64_t>(attrs.lhs_batch_dims.size() + attrs.lhs_contracting_dims.size());
  const bool short_is_rhs = i->operand(1)->shape().rank() == named;
  if (!short_is_rhs && i->operand(0)->shape().rank() != named) return nullptr;
  const ElementType type = i->shape().type;
  const ElementType wide = IsFloat(type) && BitWidth(type) < 32 ? ElementType::kF32 : type;
  HloWriter w(r);
  Instruction* full = w.Convert(i->operand(short_is_rhs ? 0 : 1), wide);
  Instruction* few = w.Convert(i->operand(short_is_rhs ? 1 : 0), wide);
  few = Spread(w, few, PlacesIn(attrs, short_is_rhs, few->shape().rank()), full->shape().dims);
  const DimVector& summed = short_is_rhs ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
  const DimVector& batch = short_is_rhs ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
  Instruction* sum = w.Reduce(w.Binary(Opcode::kMultiply, full, few), w.Integer(wide, 0), summed,
                              MakeReducer(*i->module(), Opcode::kAdd, wide));
  // Batches first, then what is left, as the dot has them.
  DimVector left, order;
  for (int64_t d = 0; d < full->shape().rank(); ++d)
    if (!Contains(summed, d)) left.push_back(d);
  for (int64_t d : batch) order.push_back(std::find(left.begin(), left.end(), d) - left.begin());
  for (size_t k = 0; k < left.size(); ++k)
    if (!Contains(batch, left[k])) order.push_back(static_cast<int64_t>(k));
  return w.Convert(w.Transpose(sum, order), type);
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
  if (size < least || size % parts != 0) return nullptr;
  HloWriter w(r);
  Instruction* x = CutInFront(w, i->operand(0), a, parts);
  Instruction* y = CutInFront(w, i->operand(1), b, parts);
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
// (`parts`, 16), side by side as a batch, and add these up. Reassociates floats.
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

// dot-strength-reduction: dots of real numbers with a side that has no dimension of its own
// (vectors, and matrices by vectors) become products and a sum; bf16 and f16 add up in f32. The
// order of the sum is the reduction's.
std::unique_ptr<Pass> CreateDotStrengthReduction() {
  return MakeExpander("dot-strength-reduction", AddUp);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
