// Convolutions in the forms that targets have.
//
// Groups, spatial dimensions and types of convolutions.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;
constexpr ElementType kIndex = ElementType::kS32;

bool IsConvolution(const Instruction* i) {
  return i->opcode() == Opcode::kConvolution && !i->shape().HasDynamicDims() &&
         i->shape().ElementCount() > 0;
}

// Which of the groups of `size` positions along a dimension each position lies in.
Instruction* GroupOf(HloWriter& w, const Shape& shape, int64_t dimension, int64_t size) {
  Instruction* position = w.Iota(kIndex, shape.dims, dimension);
  return size == 1 ? position : w.WithInteger(Opcode::kDivide, position, size);
}

// Kernel[i, o] of input feature i and output feature o, zero where they are of different groups.
Instruction* DenseKernel(HloWriter& w, Instruction* kernel, const ConvDims& labels,
                         int64_t groups) {
  const int64_t in = labels.kernel_input_feature, out = labels.kernel_output_feature;
  const DimVector given = kernel->shape().dims;
  DimVector split = given, dense = given, where;
  split.insert(split.begin() + in, groups);
  for (int64_t d = 0; d < static_cast<int64_t>(split.size()); ++d)
    if (d != in) where.push_back(d);
  dense[in] *= groups;
  Instruction* copies = w.Reshape(w.Broadcast(kernel, split, where), dense);
  Instruction* same =
      w.Compare(GroupOf(w, copies->shape(), in, given[in]),
                GroupOf(w, copies->shape(), out, given[out] / groups), ComparisonDirection::kEq);
  return w.Select(same, copies, w.FillInteger(copies->shape(), 0));
}

// g groups become one, with a kernel that is zero between features of different groups: g times the
// work, in one product.
Made ConvertFeatureGroups(Instruction* i, Rewriter& r) {
  HloWriter w(r);
  const auto& attrs = i->attr<ConvolutionAttrs>();
  Instruction* kernel = DenseKernel(w, i->operand(1), attrs.dim_labels, attrs.feature_group_count);
  Instruction* made = r.Clone(i, i->shape(), {i->operand(0), kernel});
  made->mutable_attr<ConvolutionAttrs>().feature_group_count = 1;
  return made;
}

// `shape` with dimension d in `groups` parts, which lie along a new dimension before it.
Shape Split(const Shape& shape, int64_t d, int64_t groups) {
  DimVector dims = shape.dims;
  dims[d] /= groups;
  dims.insert(dims.begin() + d, groups);
  return RowMajor(shape.type, dims);
}

// Renumbers dimensions after one was inserted at `at`, which becomes the last spatial dimension.
void MakeRoom(int64_t at, int64_t& a, int64_t& b, DimVector& spatial) {
  a += a >= at;
  b += b >= at;
  for (int64_t& d : spatial) d += d >= at;
  spatial.push_back(at);
}

// The groups lie along one more spatial dimension. Its window is as wide as the input, dilated by
// as much, so that window k, k * (groups - 1) further on, sees group k alone, and that with kernel
// k.
Made ConvertBatchGroups(Instruction* i, Rewriter& r) {
  HloWriter w(r);
  ConvolutionAttrs attrs = i->attr<ConvolutionAttrs>();
  const int64_t groups = attrs.batch_group_count;
  ConvDims& labels = attrs.dim_labels;
  const int64_t batch = labels.input_batch, kernel = labels.kernel_output_feature;
  const int64_t feature = labels.output_feature;
  MakeRoom(batch, labels.input_batch, labels.input_feature, labels.input_spatial);
  MakeRoom(kernel, labels.kernel_input_feature, labels.kernel_output_feature,
           labels.kernel_spatial);
  MakeRoom(feature, labels.output_batch, labels.output_feature, labels.output_spatial);
  WindowDim along;
  along.size = along.base_dilation = groups;
  along.stride = std::max<int64_t>(groups - 1, 1);
  attrs.window.push_back(along);
  attrs.batch_group_count = 1;
  const Shape split = Split(i->operand(0)->shape(), batch, groups);
  Instruction* made =
      r.Clone(i, Split(i->shape(), feature, groups),
              {w.Reshape(i->operand(0), split.dims),
               w.Reshape(i->operand(1), Split(i->operand(1)->shape(), kernel, groups).dims)});
  made->mutable_attr<ConvolutionAttrs>() = std::move(attrs);
  return w.Reshape(made, i->shape().dims);
}

Made ConvertGroups(Instruction* i, Rewriter& r, bool features) {
  if (!IsConvolution(i)) return nullptr;
  if (features && i->attr<ConvolutionAttrs>().feature_group_count > 1)
    return ConvertFeatureGroups(i, r);
  if (i->attr<ConvolutionAttrs>().batch_group_count > 1) return ConvertBatchGroups(i, r);
  return nullptr;
}

// Numbers of the dimensions that are left once those of `gone` are.
int64_t Renumbered(int64_t d, const DimVector& gone) {
  return d - std::count_if(gone.begin(), gone.end(), [&](int64_t g) { return g < d; });
}

// The dimensions that are not in `gone`.
DimVector Without(const DimVector& dims, const DimVector& gone) {
  DimVector left;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
    if (std::find(gone.begin(), gone.end(), d) == gone.end()) left.push_back(dims[d]);
  return left;
}

// Leaves out the spatial dimensions numbered `trivial`.
ConvolutionAttrs Fewer(const ConvolutionAttrs& given, const std::vector<bool>& trivial,
                       DimVector& input, DimVector& kernel, DimVector& output) {
  ConvolutionAttrs attrs = given;
  ConvDims& labels = attrs.dim_labels;
  const ConvDims& old = given.dim_labels;
  attrs.window.clear();
  labels.input_spatial.clear();
  labels.kernel_spatial.clear();
  labels.output_spatial.clear();
  for (size_t s = 0; s < trivial.size(); ++s) {
    if (!trivial[s]) continue;
    input.push_back(old.input_spatial[s]);
    kernel.push_back(old.kernel_spatial[s]);
    output.push_back(old.output_spatial[s]);
  }
  for (size_t s = 0; s < trivial.size(); ++s) {
    if (trivial[s]) continue;
    attrs.window.push_back(given.window[s]);
    labels.input_spatial.push_back(Renumbered(old.input_spatial[s], input));
    labels.kernel_spatial.push_back(Renumbered(old.kernel_spatial[s], kernel));
    labels.output_spatial.push_back(Renumbered(old.output_spatial[s], output));
  }
  labels.input_batch = Renumbered(old.input_batch, input);
  labels.input_feature = Renumbered(old.input_feature, input);
  labels.kernel_input_feature = Renumbered(old.kernel_input_feature, kernel);
  labels.kernel_output_feature = Renumbered(old.kernel_output_feature, kernel);
  labels.output_batch = Renumbered(old.output_batch, output);
  labels.output_feature = Renumbered(old.output_feature, output);
  return attrs;
}

Made DropTrivialDims(Instruction* i, Rewriter& r) {
  if (!IsConvolution(i)) return nullptr;
  const auto& attrs = i->attr<ConvolutionAttrs>();
  const ConvDims& labels = attrs.dim_labels;
  if (attrs.window.size() < 2) return nullptr;
  std::vector<bool> trivial;
  for (size_t s = 0; s < attrs.window.size(); ++s) {
    const WindowDim& d = attrs.window[s];
    trivial.push_back(i->operand(0)->shape().dims[labels.input_spatial[s]] == 1 && d.size == 1 &&
                      d.pad_low == 0 && d.pad_high == 0);
  }
  if (std::count(trivial.begin(), trivial.end(), true) == 0) return nullptr;
  HloWriter w(r);
  DimVector input, kernel, output;
  ConvolutionAttrs fewer = Fewer(attrs, trivial, input, kernel, output);
  Instruction* x = w.Reshape(i->operand(0), Without(i->operand(0)->shape().dims, input));
  Instruction* k = w.Reshape(i->operand(1), Without(i->operand(1)->shape().dims, kernel));
  Instruction* made =
      r.Clone(i, RowMajor(i->shape().type, Without(i->shape().dims, output)), {x, k});
  made->mutable_attr<ConvolutionAttrs>() = std::move(fewer);
  return r.Reshape(made, i->shape());
}

// Computed in `type`, the result converted to what it was.
Instruction* ComputedIn(Instruction* i, Rewriter& r, ElementType type) {
  HloWriter w(r);
  Instruction* made = r.Clone(i, RetypedLike(i->shape(), type),
                              {w.Convert(i->operand(0), type), w.Convert(i->operand(1), type)});
  return w.Convert(made, i->shape().type);
}

Made ExpandPred(Instruction* i, Rewriter& r) {
  if (!IsConvolution(i) || !IsPred(i->operand(0)->shape().type)) return nullptr;
  return ComputedIn(i, r, ElementType::kF32);
}

// Sums of floats are computed as floats: in the widest operand's type, at least f32.
Made CanonicalizeType(Instruction* i, Rewriter& r) {
  if (!IsConvolution(i)) return nullptr;
  const ElementType type = i->shape().type, a = i->operand(0)->shape().type;
  if (IsFloat(a) && IsInteger(type)) {
    HloWriter w(r);
    const ElementType real = BitWidth(a) > 32 ? a : ElementType::kF32;
    return w.Convert(r.Clone(i, RetypedLike(i->shape(), real), i->operands()), type);
  }
  const bool same = a == type && i->operand(1)->shape().type == type;
  return same ? nullptr : ComputedIn(i, r, type);
}

bool IsLegal(const WindowDim& window) {
  return window.pad_low == window.pad_high && window.pad_low >= 0 && window.base_dilation == 1 &&
         window.window_dilation == 1;
}

// conv(x, k), pad=0_3 -> conv(pad(x), k), pad=0_0: uneven and negative padding and dilation as
// operations of their own.
template <typename Attrs>
Instruction* WithLegalWindow(Instruction* i, Rewriter& r, const ConvDims& labels) {
  Attrs attrs = i->attr<Attrs>();
  HloWriter w(r);
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  PaddingConfig input(operands[0]->shape().rank()), kernel(operands[1]->shape().rank());
  for (size_t s = 0; s < attrs.window.size(); ++s) {
    WindowDim& window = attrs.window[s];
    if (window.pad_low != window.pad_high || window.pad_low < 0 || window.base_dilation != 1) {
      input[labels.input_spatial[s]] = {window.pad_low, window.pad_high, window.base_dilation - 1};
      window.pad_low = window.pad_high = 0;
      window.base_dilation = 1;
    }
    kernel[labels.kernel_spatial[s]].interior = window.window_dilation - 1;
    window.size += (window.size - 1) * (window.window_dilation - 1);
    window.window_dilation = 1;
  }
  const auto padded = [&](int64_t k, PaddingConfig padding) {
    if (padding == PaddingConfig(padding.size())) return;
    Instruction* zero = w.Integer(operands[k]->shape().type, 0);
    operands[k] = w.Pad(operands[k], zero, std::move(padding));
  };
  padded(0, std::move(input));
  padded(1, std::move(kernel));
  Instruction* made = r.Clone(i, i->shape(), operands);
  made->mutable_attr<Attrs>() = std::move(attrs);
  return made;
}

Made LegalizePadding(Instruction* i, Rewriter& r) {
  const auto is_legal = [](const Window& window) {
    return std::all_of(window.begin(), window.end(), IsLegal);
  };
  if (i->opcode() == Opcode::kCustomCall) {
    const auto& attrs = i->attr<CustomCallAttrs>();
    if (attrs.target != "__cudnn$convForward" || !attrs.dim_labels || i->operand_count() < 2 ||
        is_legal(attrs.window) || attrs.window.size() != attrs.dim_labels->input_spatial.size())
      return nullptr;
    return WithLegalWindow<CustomCallAttrs>(i, r, ConvDims(*attrs.dim_labels));
  }
  if (!IsConvolution(i) || is_legal(i->attr<ConvolutionAttrs>().window)) return nullptr;
  return WithLegalWindow<ConvolutionAttrs>(i, r, ConvDims(i->attr<ConvolutionAttrs>().dim_labels));
}

}  // namespace

// convolution-group-converter: a convolution in batch groups becomes one of all pairs of groups, of
// which those that belong together are kept. With the option `features`, one in feature groups
// becomes one of all features with a kernel that is zero between groups: infinities and NaNs of a
// group then reach the others.
std::unique_ptr<Pass> CreateConvolutionGroupConverter(PassArguments& arguments) {
  const bool features = arguments.Flag("features", "feature groups, too");
  return MakeExpander("convolution-group-converter", [features](Instruction* i, Rewriter& r) {
    return ConvertGroups(i, r, features);
  });
}

// convolution_4d_expander: spatial dimensions in which nothing happens (one element, a window of
// one, no padding) are left out. Exact.
std::unique_ptr<Pass> CreateConvolution4dExpander() {
  return MakeExpander("convolution_4d_expander", DropTrivialDims);
}

// convolution-pred-expander: convolutions of pred are computed in f32 and converted.
std::unique_ptr<Pass> CreateConvolutionPredExpander() {
  return MakeExpander("convolution-pred-expander", ExpandPred);
}

// ConvolutionTypeCanonicalizer: operands get the type of the result; convolutions of
// floats with integer results give floats, which are converted.
std::unique_ptr<Pass> CreateConvolutionTypeCanonicalizer() {
  return MakeExpander("ConvolutionTypeCanonicalizer", CanonicalizeType);
}

// conv-padding-legalization: windows that pad a dimension by less than nothing, or its ends
// differently, or that dilate the input, get an input that is padded and cropped before; dilated
// kernels are padded too. Convolutions and cuDNN's forward calls. Exact.
std::unique_ptr<Pass> CreateConvPaddingLegalization() {
  return MakeExpander("conv-padding-legalization", LegalizePadding);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
