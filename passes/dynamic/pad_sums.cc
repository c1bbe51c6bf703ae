// Reductions, windows, products and normalizations over arrays of dynamic size. If the reducer has
// a known identity element, elements beyond the size are replaced by it. Otherwise a predicate is
// reduced along: flagged values combine only if both count,
//   f((x, true), (y, true)) = f(x, y);  f((x, true), (y, false)) = x
// Contracted dimensions of dots are filled with zeros.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/dynamic/dynamic_arrays_internal.h"
#include "passes/expanders/batch_norm_expander.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

using Sizes = DynamicArrays::Sizes;

// A reducer over one more pair of pred, which say whether the values before them count: what does
// not count leaves the other side as it is.
Computation* FlaggedReducer(const Computation& reducer, Module& module) {
  Computation* c = module.AddComputation("where_inside");
  Rewriter r(*c);
  HloWriter w(r);
  const int64_t n = reducer.parameter_count() / 2;
  const Shape flag = RowMajor(ElementType::kPred, {});
  std::vector<Instruction*> sides[2], arguments;
  for (int side = 0; side < 2; ++side)
    for (int64_t k = 0; k <= n; ++k)
      sides[side].push_back(c->AddParameter(
          side * (n + 1) + k, k < n ? reducer.parameter(side * n + k)->shape() : flag));
  for (const auto& side : sides) arguments.insert(arguments.end(), side.begin(), side.end() - 1);
  Instruction* result = CopyBody(reducer, arguments, *c);
  Instruction* both = w.Binary(Opcode::kAnd, sides[0][n], sides[1][n]);
  std::vector<Instruction*> out;
  for (int64_t k = 0; k < n; ++k) {
    Instruction* part = result->shape().IsTuple() ? w.Part(result, k) : result;
    out.push_back(w.Select(both, part, w.Select(sides[0][n], sides[0][k], sides[1][k])));
  }
  out.push_back(w.Binary(Opcode::kOr, sides[0][n], sides[1][n]));
  c->set_root(w.Tuple(out));
  return c;
}

// The reduce (or reduce-window) `i` of arrays of which only what is `inside` counts.
std::vector<Instruction*> Flagged(DynamicArrays& a, Instruction* i, Instruction* inside) {
  HloWriter& w = a.w();
  const int64_t n = i->operand_count() / 2;
  std::vector<Instruction*> operands = a.PaddedOperands(i);
  operands.insert(operands.begin() + n, inside);
  operands.push_back(w.Integer(ElementType::kPred, 1));
  const Shape whole = AtBounds(i->shape());
  std::vector<Shape> shapes = {whole};
  if (whole.IsTuple()) shapes.assign(whole.elements.begin(), whole.elements.end());
  shapes.push_back(RetypedLike(shapes[0], ElementType::kPred));
  Instruction* made = a.rewriter().Clone(i, Shape::Tuple(std::move(shapes)), operands);
  made->set_called({FlaggedReducer(*i->to_apply(), *i->module())});
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < n; ++k) parts.push_back(w.Part(made, k));
  return parts;
}

void NoteReduced(DynamicArrays& a, Instruction* i, absl::Span<Instruction* const> parts,
                 const Sizes& sizes) {
  if (i->shape().IsArray()) return a.Note(i, parts[0], sizes);
  a.NoteParts(i, parts, std::vector<Sizes>(parts.size(), sizes));
}

bool ReducesArrays(const Instruction& i) {
  const int64_t n = i.operand_count() / 2;
  return std::none_of(i.operands().begin() + n, i.operands().end(),
                      [](const Instruction* init) { return IsDynamicArray(init->shape()); });
}

// Sizes of the arrays that a reduction takes, in order: the last that has one says it.
Sizes SizesOfArrays(const DynamicArrays& a, const Instruction* i) {
  Sizes sizes(i->operand(0)->shape().rank(), nullptr);
  for (int64_t k = 0; k < i->operand_count() / 2; ++k) {
    const Sizes own = a.SizesOf(i->operand(k));
    for (size_t d = 0; d < own.size(); ++d)
      if (own[d] != nullptr) sizes[d] = own[d];
  }
  return sizes;
}

bool AgreeInSizes(const DynamicArrays& a, const Instruction* i) {
  for (int64_t k = 1; k < i->operand_count() / 2; ++k)
    if (a.SizesOf(i->operand(k)) != a.SizesOf(i->operand(0))) return false;
  return true;
}

// Each array with its own initial value beyond its own sizes, as XLA has it.
std::vector<Instruction*> EachFilled(DynamicArrays& a, Instruction* i,
                                     const DynamicArrays::Masked& masked) {
  std::vector<Instruction*> operands = a.PaddedOperands(i);
  const int64_t n = i->operand_count() / 2;
  for (int64_t k = 0; k < n; ++k) operands[k] = a.Filled(i->operand(k), operands[n + k], masked);
  return operands;
}

// The parts of a reduction whose operands have what does not count masked.
std::vector<Instruction*> Masked(DynamicArrays& a, Instruction* i,
                                 const DynamicArrays::Masked& masked) {
  Instruction* x = i->operand(0);
  HloWriter& w = a.w();
  const bool single = i->operand_count() == 2 && i->shape().IsArray();
  if (single && HasKnownIdentity(*i->to_apply(), i->shape().type)) {
    Instruction* identity = IdentityOf(*i->to_apply(), x->shape().type, w);
    return {a.rewriter().Clone(i, AtBounds(i->shape()),
                               {a.Filled(x, identity, masked), a.Padded(i->operand(1))})};
  }
  const bool agree = AgreeInSizes(a, i);
  if (Instruction* inside = a.Inside(x, masked); agree && inside != nullptr)
    return Flagged(a, i, inside);
  Instruction* made = agree ? a.CloneAtBounds(i)
                            : a.rewriter().Clone(i, AtBounds(i->shape()), EachFilled(a, i, masked));
  if (i->shape().IsArray()) return {made};
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < i->shape().elements.size(); ++k) parts.push_back(w.Part(made, k));
  return parts;
}

void PadReduce(DynamicArrays& a, Instruction* i) {
  const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
  const auto parts = Masked(a, i, [&](int64_t d) { return Contains(reduced, d); });
  const Sizes own = SizesOfArrays(a, i);
  Sizes sizes;
  for (size_t d = 0; d < own.size(); ++d)
    if (!Contains(reduced, d)) sizes.push_back(own[d]);
  NoteReduced(a, i, parts, sizes);
}

// How many places a window of `size` elements has along an array of size n.
Instruction* Places(DynamicArrays& a, Instruction* n, Instruction* size, const WindowDim& d) {
  Instruction* padded = a.Plus(a.AtLeast(a.Plus(a.Times(a.Plus(n, -1), d.base_dilation), 1), 0),
                               d.pad_low + d.pad_high + d.stride - 1);
  Instruction* reach = a.Times(a.Plus(size, -1), d.window_dilation);
  return a.AtLeast(a.Over(a.w().Binary(Opcode::kSubtract, padded, reach), d.stride), 0);
}

void PadReduceWindow(DynamicArrays& a, Instruction* i) {
  const Window& window = i->attr<WindowAttrs>().window;
  const auto parts = Masked(a, i, [&](int64_t d) { return window[d] != WindowDim(); });
  Sizes sizes = SizesOfArrays(a, i);
  for (size_t d = 0; d < window.size(); ++d)
    if (sizes[d] != nullptr) sizes[d] = Places(a, sizes[d], a.Int(window[d].size), window[d]);
  NoteReduced(a, i, parts, sizes);
}

bool IsPlainDot(const Instruction& i) { return i.operand_count() == 2; }

void PadDot(DynamicArrays& a, Instruction* i) {
  const auto& attrs = i->attr<DotAttrs>();
  const auto contracted = [&](int64_t k) {
    const DimVector& summed = k == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
    Instruction* x = i->operand(k);
    return a.Filled(x, a.w().Integer(x->shape().type, 0),
                    [&](int64_t d) { return Contains(summed, d); });
  };
  Instruction* x = contracted(0);
  a.NoteAlong(i, a.rewriter().Clone(i, AtBounds(i->shape()), {x, contracted(1)}));
}

bool CanConvolve(const Instruction& i) {
  const auto& attrs = i.attr<ConvolutionAttrs>();
  const ConvDims& labels = attrs.dim_labels;
  const Shape &x = i.operand(0)->shape(), &kernel = i.operand(1)->shape();
  const bool grouped = attrs.feature_group_count != 1 || attrs.batch_group_count != 1;
  if (grouped && (x.IsDynamic(labels.input_feature) || x.IsDynamic(labels.input_batch) ||
                  kernel.IsDynamic(labels.kernel_input_feature) ||
                  kernel.IsDynamic(labels.kernel_output_feature)))
    return false;
  for (size_t d = 0; d < attrs.window.size(); ++d)
    if (attrs.window[d].reversal && kernel.IsDynamic(labels.kernel_spatial[d])) return false;
  return i.operand_count() == 2;
}

void PadConvolution(DynamicArrays& a, Instruction* i) {
  const auto& attrs = i->attr<ConvolutionAttrs>();
  const ConvDims& labels = attrs.dim_labels;
  Instruction *x = i->operand(0), *kernel = i->operand(1);
  Instruction* zero = a.w().Integer(x->shape().type, 0);
  Instruction* input = a.Filled(x, zero, [&](int64_t d) { return d != labels.input_batch; });
  Instruction* weights = a.Filled(kernel, a.w().Integer(kernel->shape().type, 0),
                                  [&](int64_t d) { return d != labels.kernel_output_feature; });
  const Sizes own = a.SizesOf(x), weight_sizes = a.SizesOf(kernel);
  Sizes sizes(i->shape().rank(), nullptr);
  sizes[labels.output_batch] = own[labels.input_batch];
  sizes[labels.output_feature] = weight_sizes[labels.kernel_output_feature];
  for (size_t d = 0; d < attrs.window.size(); ++d) {
    const int64_t from = labels.input_spatial[d], to = labels.kernel_spatial[d];
    if (own[from] != nullptr || weight_sizes[to] != nullptr)
      sizes[labels.output_spatial[d]] =
          Places(a, a.SizeOf(x, from), a.SizeOf(kernel, to), attrs.window[d]);
  }
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), {input, weights}), std::move(sizes));
}

void PadBatchNorm(DynamicArrays& a, Instruction* i) {
  HloWriter& w = a.w();
  Instruction* x = i->operand(0);
  const int64_t feature = i->attr<BatchNormAttrs>().feature_index;
  const Sizes own = a.SizesOf(x);
  if (i->shape().IsArray()) return a.Note(i, a.CloneAtBounds(i), own);
  BatchNormExtent extent;
  extent.inside = a.Inside(x, [&](int64_t d) { return d != feature; });
  extent.count = a.Int(1);
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (d != feature) extent.count = w.Binary(Opcode::kMultiply, extent.count, a.SizeOf(x, d));
  const std::vector<Instruction*> operands = a.PaddedOperands(i);
  const auto parts = WriteBatchNorm(w, *i, operands, extent);
  const Sizes of_features = {own[feature]};
  a.NoteParts(i, parts, {own, of_features, of_features});
}

constexpr PadRule kPadSumRules[] = {
    {Opcode::kBatchNormGrad, Always, PadBatchNorm},
    {Opcode::kBatchNormInference, Always, PadBatchNorm},
    {Opcode::kBatchNormTraining, Always, PadBatchNorm},
    {Opcode::kConvolution, CanConvolve, PadConvolution},
    {Opcode::kDot, IsPlainDot, PadDot},
    {Opcode::kReduce, ReducesArrays, PadReduce},
    {Opcode::kReduceWindow, ReducesArrays, PadReduceWindow},
};

}  // namespace

bool HasKnownIdentity(const Computation& reducer, ElementType type) {
  return !IsComplex(type) && ReducerOpcode(reducer).has_value();
}

Instruction* IdentityOf(const Computation& reducer, ElementType type, HloWriter& w) {
  return w.Identity(*ReducerOpcode(reducer), type);
}

absl::Span<const PadRule> PadSumRules() { return kPadSumRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
