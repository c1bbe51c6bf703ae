// Convolutions of cuDNN: forward, and towards the input and the filter, with what is fused into
// them.
//
// All three kinds carry the window of the forward convolution y = conv(x, w).
// - Forward: that convolution; then alpha, side input, bias, activation.
// - Gradient at the input: the gradient of y is spread by the strides (base dilation) and convolved
//   with the reversed kernel. With span = (size - 1) * window dilation the padding becomes
//   span - pad_low in front, and behind it what makes the result as long as x.
// - Gradient at the filter: a convolution of x by the gradient of y whose window is as long as y:
//   strides and window dilations change places, batch and feature dimensions too.
// In groups, the kernel's features are regrouped for the gradient at the input: [.., in / g, out]
// becomes [.., in, out / g] by a reshape, a transpose and a reshape.
#include <cmath>

#include "absl/strings/match.h"
#include "ops/vendor/conv_shapes.h"
#include "passes/vendor/vendor_calls_internal.h"

namespace hlokit {
namespace {

// The arrays of the forward convolution, whichever of them the call gives.
struct Forward {
  const Shape &input, &kernel, &output;
};

// The kernel of a convolution in `groups` groups, which has all of the output's features and a
// group's share of the input's, with a group's share of the output's and all of the input's.
Instruction* Regrouped(VendorCall& c, Instruction* kernel, int64_t groups) {
  if (groups == 1) return kernel;
  const ConvDims& d = *c.attrs().dim_labels;
  const int64_t out = d.kernel_output_feature, in = d.kernel_input_feature;
  Shape split = kernel->shape();
  split.dims[out] /= groups;
  split.dims.insert(split.dims.begin() + out, groups);
  // The groups move in front of the input's features.
  DimVector order;
  Shape turned = Shape::Array(split.type, {}), merged = turned;
  for (int64_t k = 0; k < kernel->shape().rank(); ++k) {
    if (k == in) order.push_back(out);
    order.push_back(k < out ? k : k + 1);
    merged.dims.push_back(kernel->shape().dims[k]);
  }
  for (int64_t k : order) turned.dims.push_back(split.dims[k]);
  merged.dims[out] /= groups;
  merged.dims[in] *= groups;
  kernel = c.rewriter().Reshape(kernel, Shape::Array(split.type, split.dims));
  kernel = c.rewriter().Add(Opcode::kTranspose, turned, {kernel}, DimensionsAttrs{order});
  return c.rewriter().Reshape(kernel, merged);
}

// The gradient at the input: the output's, spread by the strides, with the kernel reversed.
Instruction* ToInput(VendorCall& c, const Forward& f, const Shape& shape) {
  const ConvDims& d = *c.attrs().dim_labels;
  ConvolutionAttrs attrs;
  for (size_t k = 0; k < c.attrs().window.size(); ++k) {
    const WindowDim& w = c.attrs().window[k];
    const int64_t in = f.input.dims[d.input_spatial[k]], out = f.output.dims[d.output_spatial[k]];
    const int64_t span = (w.size - 1) * w.window_dilation, spread = (out - 1) * w.stride + 1;
    WindowDim turned;
    turned.size = w.size;
    turned.base_dilation = w.stride;
    turned.window_dilation = w.window_dilation;
    turned.reversal = !w.reversal;
    turned.pad_low = span - w.pad_low;
    turned.pad_high = in + span - spread - turned.pad_low;
    attrs.window.push_back(turned);
  }
  attrs.dim_labels = {d.output_batch,          d.output_feature,       d.output_spatial,
                      d.kernel_output_feature, d.kernel_input_feature, d.kernel_spatial,
                      d.input_batch,           d.input_feature,        d.input_spatial};
  attrs.feature_group_count = c.attrs().feature_group_count;
  Instruction* kernel = Regrouped(c, c.operand(1), attrs.feature_group_count);
  return c.rewriter().Add(Opcode::kConvolution, shape, {c.operand(0), kernel}, attrs);
}

// The gradient at the kernel: the input with the output's gradient as kernel, batch and features
// exchanged.
Instruction* ToKernel(VendorCall& c, const Forward& f, const Shape& shape) {
  const ConvDims& d = *c.attrs().dim_labels;
  ConvolutionAttrs attrs;
  for (size_t k = 0; k < c.attrs().window.size(); ++k) {
    const WindowDim& w = c.attrs().window[k];
    if (w.reversal) return nullptr;
    const int64_t in = f.input.dims[d.input_spatial[k]], out = f.output.dims[d.output_spatial[k]];
    WindowDim swapped;
    swapped.size = out;
    swapped.stride = w.window_dilation;
    swapped.window_dilation = w.stride;
    swapped.pad_low = w.pad_low;
    swapped.pad_high = (w.size - 1) * w.window_dilation + (out - 1) * w.stride + 1 - in - w.pad_low;
    attrs.window.push_back(swapped);
  }
  attrs.dim_labels = {d.input_feature,        d.input_batch,           d.input_spatial,
                      d.output_batch,         d.output_feature,        d.output_spatial,
                      d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial};
  attrs.batch_group_count = c.attrs().feature_group_count;
  return c.rewriter().Add(Opcode::kConvolution, shape, {c.operand(0), c.operand(1)}, attrs);
}

// The convolution that the call's own attributes describe.
Instruction* Forward(VendorCall& c, const Shape& shape) {
  ConvolutionAttrs convolution;
  convolution.window = c.attrs().window;
  convolution.dim_labels = *c.attrs().dim_labels;
  convolution.feature_group_count = c.attrs().feature_group_count;
  convolution.batch_group_count = c.attrs().batch_group_count;
  return c.rewriter().Add(Opcode::kConvolution, shape, {c.operand(0), c.operand(1)},
                          std::move(convolution));
}

Instruction* Convolution(VendorCall& c, const Shape& shape) {
  const CustomCallAttrs& attrs = c.attrs();
  const bool to_input = absl::EndsWith(attrs.target, "BackwardInput");
  const bool to_kernel = absl::EndsWith(attrs.target, "BackwardFilter");
  if (!to_input && !to_kernel) return Forward(c, shape);
  for (const WindowDim& w : attrs.window)
    if (w.base_dilation != 1) return nullptr;
  const int64_t outputs =
      c.operand(1)->shape().dims[to_input ? attrs.dim_labels->kernel_output_feature
                                          : attrs.dim_labels->output_feature];
  if (attrs.batch_group_count != 1 || attrs.feature_group_count < 1 ||
      outputs % attrs.feature_group_count != 0)
    return nullptr;
  const Shape &first = c.operand(0)->shape(), &second = c.operand(1)->shape();
  if (to_input) return ToInput(c, {shape, second, first}, shape);
  return ToKernel(c, {first, shape, second}, shape);
}

bool IsNumber(ElementType type) { return IsFloat(type) || IsInteger(type); }

bool ShapesFit(VendorCall& c) {
  return c.operand_count() >= 2 &&
         ConvShapesFit(c.attrs(), c.operand(0)->shape(), c.operand(1)->shape(), c.result()) &&
         IsNumber(c.result().type) && IsNumber(c.operand(0)->shape().type) &&
         IsNumber(c.operand(1)->shape().type) && c.result().ElementCount() > 0;
}

// max(x, 0) + slope * min(x, 0)
Instruction* LeakyRelu(VendorCall& c, Instruction* x, double slope) {
  Instruction* zero = c.Number(0, x->shape());
  return c.Do(Opcode::kAdd, c.Do(Opcode::kMaximum, x, zero),
              c.Scaled(c.Do(Opcode::kMinimum, x, zero), slope));
}

// Floats as integers: rounded to the nearest, ties to even, and held to what the type can hold.
Instruction* Saturated(VendorCall& c, Instruction* x, ElementType type) {
  if (!IsInteger(type)) return x;
  const int width = BitWidth(type);
  const bool is_signed = IsSigned(type);
  const double least = is_signed ? -std::ldexp(1, width - 1) : 0;
  const double most = std::ldexp(1, is_signed ? width - 1 : width) - 1;
  x = c.Do(Opcode::kMaximum, x, c.Number(least, x->shape()));
  x = c.Do(Opcode::kMinimum, x, c.Number(most, x->shape()));
  return c.Do(Opcode::kRoundNearestEven, x);
}

}  // namespace

// activation(conv_result_scale * convolution + side_input_scale * operand 3 + bias by feature).
VendorCall::Parts ExpandConvolution(VendorCall& c) {
  const ConfigValue& config = c.config("cudnn_conv_backend_config");
  if (!ShapesFit(c) || !config.StringOr("serialized_graph", "").empty()) return {};
  // Integers are added up exactly; what follows is done in floats.
  const bool exact = IsInteger(c.operand(0)->shape().type);
  const ElementType wide =
      IsFloat(c.result().type) ? VendorCall::Wide(c.result().type) : ElementType::kF32;
  const Shape shape = Shape::Array(wide, c.result().dims);
  Instruction* y = Convolution(c, exact ? Shape::Array(ElementType::kS32, shape.dims) : shape);
  if (y == nullptr) return {};
  if (exact && c.result().type == ElementType::kS32 && c.operand_count() == 2 &&
      config.NumberOr("conv_result_scale", 1) == 1)
    return {y};  // s32 holds what cuDNN adds up
  y = c.Scaled(c.As(y, wide), config.NumberOr("conv_result_scale", 1));
  if (c.operand_count() > 2) {
    const int64_t feature = c.attrs().dim_labels->output_feature;
    Instruction* bias = c.As(c.operand(2), shape.type);
    if (bias->shape().rank() != 1 || bias->shape().dims[0] != shape.dims[feature]) return {};
    y = c.Do(Opcode::kAdd, y, c.rewriter().Broadcast(bias, shape.WithDefaultLayout(), {feature}));
  }
  if (c.operand_count() > 3) y = c.Plus(y, c.operand(3), config.NumberOr("side_input_scale", 0));
  const std::string mode = ActivationName(config.StringOr("activation_mode", "kNone"));
  if (y == nullptr) return {};
  y = mode == "LEAKYRELU" ? LeakyRelu(c, y, config.NumberOr("leakyrelu_alpha", 0))
                          : c.Activated(mode, y);
  if (y == nullptr) return {};
  return {Saturated(c, y, c.result().type)};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
