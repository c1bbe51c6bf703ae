// A convolution sums x[o * stride + k * wd - low] * w[k] over k, where x may be dilated by bd. With
// j = the input's index it is also the sum of w[...] * x[j] over j: the kernel becomes the array
// that is slid over, and the input the window. Where the kernel was read forwards, the new window
// moves against it, so that the kernel is reversed first.
#include "passes/rewrite/swapped_convolution.h"

#include <algorithm>

#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// True if the window takes the whole dimension, at once or as one group after the other: such
// dimensions are sums or batches in disguise, whose window fits the exchanged operands as it is.
bool IsWholeOrGroup(const WindowDim& d, int64_t input_size) {
  if (d.reversal || d.pad_low != 0 || d.pad_high != 0 || d.window_dilation != 1 ||
      d.size != input_size)
    return false;
  const bool whole = d.base_dilation == 1 && d.stride == 1;
  return whole || (d.base_dilation == d.size && d.stride == d.size - 1);
}

WindowDim SwappedWindow(const WindowDim& d, int64_t input_size) {
  const int64_t kernel = 1 + (d.size - 1) * d.window_dilation;
  const int64_t input = 1 + (input_size - 1) * d.base_dilation;
  WindowDim swapped = d;
  swapped.size = input_size;
  swapped.reversal = true;
  swapped.base_dilation = d.window_dilation;
  swapped.window_dilation = d.base_dilation;
  swapped.pad_low = input + d.pad_low - kernel;
  swapped.pad_high = input + d.pad_high - kernel;
  return swapped;
}

ConvDims SwappedLabels(const ConvDims& from) {
  ConvDims to = from;
  std::swap(to.input_batch, to.kernel_output_feature);
  std::swap(to.input_feature, to.kernel_input_feature);
  std::swap(to.input_spatial, to.kernel_spatial);
  std::swap(to.output_batch, to.output_feature);
  return to;
}

}  // namespace

Instruction* SwappedConvolution(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvolution) return nullptr;
  ConvolutionAttrs attrs = i->attr<ConvolutionAttrs>();
  if (attrs.feature_group_count != 1 || attrs.batch_group_count != 1 || i->operand_count() != 2 ||
      i->shape().HasDynamicDims() || i->shape().ElementCount() == 0)
    return nullptr;  // a result of nothing may leave the exchanged window less than no size
  const ConvDims& labels = attrs.dim_labels;
  const Shape& input = i->operand(0)->shape();
  double before = 1, after = 1;  // places of the window
  DimVector reversed;
  for (size_t s = 0; s < attrs.window.size(); ++s) {
    WindowDim& d = attrs.window[s];
    const int64_t size = input.dims[labels.input_spatial[s]];
    if (size < 1 || d.size < 1) return nullptr;
    if (IsWholeOrGroup(d, size)) continue;
    before *= static_cast<double>(d.size);
    // A single element is fast as it is.
    const bool single = size == 1 && d.stride == 1 && !d.reversal;
    after *= static_cast<double>(single ? d.size : size);
    if (!d.reversal) reversed.push_back(labels.kernel_spatial[s]);
    d = SwappedWindow(d, size);
  }
  if (before <= after) return nullptr;
  attrs.dim_labels = SwappedLabels(labels);
  std::reverse(attrs.operand_precision.begin(), attrs.operand_precision.end());
  Instruction* kernel = i->operand(1);
  if (!reversed.empty()) kernel = HloWriter(r).Reverse(kernel, reversed);
  Instruction* made = r.Clone(i, i->shape(), {kernel, i->operand(0)});
  made->mutable_attr<ConvolutionAttrs>() = std::move(attrs);
  return made;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
