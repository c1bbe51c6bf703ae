// Convolutions of cuDNN: forward, and towards the input and the filter, with what is fused into
// them.
//
// The forward kind is HLO's convolution in f64. For the others, the same loop nest runs over every
// place where the forward convolution would multiply an input by a tap of the kernel, and adds
//   gradient of the output * kernel   into the gradient at the input, or
//   input * gradient of the output    into the gradient at the kernel
// so there is one definition of which element meets which. Cost: the products of the forward
// convolution.
#include <algorithm>

#include "absl/strings/match.h"
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/values.h"
#include "ops/evaluate/window.h"
#include "ops/vendor/conv_graph.h"
#include "ops/vendor/conv_shapes.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::StatusOr<std::vector<double>> Forward(const EvalContext& context, const Shape& shape) {
  const CustomCallAttrs& attrs = context.instruction.attr<CustomCallAttrs>();
  Instruction conv(Opcode::kConvolution, Shape::Array(ElementType::kF64, shape.dims), {});
  ConvolutionAttrs& convolution = conv.mutable_attr<ConvolutionAttrs>();
  convolution.window = attrs.window;
  convolution.dim_labels = *attrs.dim_labels;
  convolution.feature_group_count = attrs.feature_group_count;
  convolution.batch_group_count = attrs.batch_group_count;
  const CallComputation none;
  ASSIGN_OR_RETURN(
      const Literal result,
      EvaluateConvolution(EvalContext{conv, context.operands.subspan(0, 2), none, 0, 0, nullptr}));
  return WidenTo<double>(result);
}

// The forward convolution's three arrays: two are given and the third is summed up, product by
// product, over every place where the forward convolution multiplies.
class Backward {
 public:
  Backward(const CustomCallAttrs& attrs, const Shape& input, const Shape& kernel,
           const Shape& output)
      : attrs_(attrs),
        dims_(*attrs.dim_labels),
        input_dims_(input.dims),
        kernel_dims_(kernel.dims),
        output_dims_(output.dims),
        map_(attrs.window, Pick(input.dims, dims_.input_spatial),
             Pick(RowMajorStrides(input.dims), dims_.input_spatial),
             Pick(output.dims, dims_.output_spatial)) {}

  // fn(offset in the input, in the kernel, in the output) for each product.
  template <typename Fn>
  void ForEachProduct(Fn fn) const {
    const DimVector in = RowMajorStrides(input_dims_), k = RowMajorStrides(kernel_dims_),
                    out = RowMajorStrides(output_dims_);
    const DimVector k_spatial = Pick(k, dims_.kernel_spatial),
                    out_spatial = Pick(out, dims_.output_spatial);
    const int64_t outs = output_dims_[dims_.output_feature],
                  ins = kernel_dims_[dims_.kernel_input_feature],
                  outs_a_group = outs / attrs_.feature_group_count;
    ForEachIndex(Pick(output_dims_, dims_.output_spatial), [&](absl::Span<const int64_t> at) {
      ForEachIndex(map_.window_sizes(), [&](absl::Span<const int64_t> w) {
        const int64_t pixel = map_.Offset(at, w);
        if (pixel < 0) return;
        int64_t tap = 0, place = 0;
        for (size_t d = 0; d < w.size(); ++d) {
          tap += w[d] * k_spatial[d];
          place += at[d] * out_spatial[d];
        }
        for (int64_t b = 0; b < output_dims_[dims_.output_batch]; ++b)
          for (int64_t o = 0; o < outs; ++o)
            for (int64_t i = 0; i < ins; ++i)
              fn(pixel + b * in[dims_.input_batch] +
                     (o / outs_a_group * ins + i) * in[dims_.input_feature],
                 tap + i * k[dims_.kernel_input_feature] + o * k[dims_.kernel_output_feature],
                 place + b * out[dims_.output_batch] + o * out[dims_.output_feature]);
      });
    });
  }

 private:
  const CustomCallAttrs& attrs_;
  const ConvDims& dims_;
  const DimVector &input_dims_, &kernel_dims_, &output_dims_;
  WindowMap map_;
};

absl::Status CheckShapes(const EvalContext& context, const Shape& shape) {
  const CustomCallAttrs& attrs = context.instruction.attr<CustomCallAttrs>();
  if (context.operands.size() >= 2 &&
      ConvShapesFit(attrs, context.operands[0]->shape(), context.operands[1]->shape(), shape))
    return absl::OkStatus();
  return InvalidArgument("custom-call ", attrs.target,
                         ": operands, window and dim_labels do not fit together");
}

absl::StatusOr<std::vector<double>> RunConvolution(const EvalContext& context, const Shape& shape) {
  const CustomCallAttrs& attrs = context.instruction.attr<CustomCallAttrs>();
  const bool to_input = absl::EndsWith(attrs.target, "BackwardInput");
  const bool to_filter = absl::EndsWith(attrs.target, "BackwardFilter");
  if (!to_input && !to_filter) return Forward(context, shape);
  const Shape &first = context.operands[0]->shape(), &second = context.operands[1]->shape();
  const Backward conv(attrs, to_input ? shape : first, to_input ? second : shape,
                      to_input ? first : second);
  const std::vector<double> a = WidenTo<double>(*context.operands[0]),
                            b = WidenTo<double>(*context.operands[1]);
  std::vector<double> sums(shape.ElementCount());
  if (sums.empty() || a.empty() || b.empty()) return sums;
  if (to_input)
    conv.ForEachProduct([&](int64_t in, int64_t k, int64_t out) { sums[in] += a[out] * b[k]; });
  else
    conv.ForEachProduct([&](int64_t in, int64_t k, int64_t out) { sums[k] += a[in] * b[out]; });
  return sums;
}

}  // namespace

// activation(conv_result_scale * convolution + side_input_scale * operand 3 + bias by feature).
absl::StatusOr<Literal> CudnnConvolution(const EvalContext& context) {
  const CustomCallAttrs& attrs = context.instruction.attr<CustomCallAttrs>();
  const Shape& shape = FirstArray(context.instruction.shape());
  RETURN_IF_ERROR(CheckShapes(context, shape));
  ASSIGN_OR_RETURN(const ConfigValue whole, ParseCallConfig(context.instruction.backend_config()));
  const ConfigValue* inner = whole.Find("cudnn_conv_backend_config");
  const ConfigValue& config = inner != nullptr ? *inner : whole;
  ASSIGN_OR_RETURN(std::vector<double> values, RunConvolution(context, shape));
  if (const std::string graph = config.StringOr("serialized_graph", ""); !graph.empty()) {
    ASSIGN_OR_RETURN(std::vector<Literal> parts,
                     RunConvGraph(context, graph, shape, std::move(values)));
    return VendorResult(context, std::move(parts));
  }
  const double scale = config.NumberOr("conv_result_scale", 1);
  for (double& x : values) x *= scale;
  if (context.operands.size() > 2) {
    const std::vector<double> bias = WidenTo<double>(*context.operands[2]);
    const int64_t feature = attrs.dim_labels->output_feature;
    const int64_t stride = RowMajorStrides(shape.dims)[feature], size = shape.dims[feature];
    if (static_cast<int64_t>(bias.size()) != size)
      return InvalidArgument("custom-call ", attrs.target, ": a bias of ", bias.size(), " for ",
                             size, " features");
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += bias[static_cast<int64_t>(i) / stride % size];
  }
  if (context.operands.size() > 3) {
    const std::vector<double> side = WidenTo<double>(*context.operands[3]);
    if (side.size() != values.size())
      return InvalidArgument("custom-call ", attrs.target, ": a side input of another shape");
    const double factor = config.NumberOr("side_input_scale", 0);
    for (size_t i = 0; i < values.size(); ++i) values[i] += factor * side[i];
  }
  const std::string mode = ActivationName(config.StringOr("activation_mode", "kNone"));
  const double alpha = config.NumberOr("leakyrelu_alpha", 0);
  if (mode == "LEAKYRELU") {
    for (double& x : values) x = x > 0 ? x : alpha * x;
  } else {
    ASSIGN_OR_RETURN(const auto activation, FindActivation(mode));
    for (double& x : values) x = activation(x);
  }
  return VendorResult(context, {VendorLiteral(shape, values)});
}

namespace {

// Numbers of dimensions; spatial ones are counted from 1, so that JSON leaves none out as 0.
struct OnednnDims {
  int64_t first = 0, second = 0;
  DimVector spatial;
};
OnednnDims DimsOf(const ConfigValue& config, const char* side, const char* inner, const char* first,
                  const char* second) {
  OnednnDims dims;
  const ConfigValue* whole = config.Find(side);
  const ConfigValue* part = whole == nullptr ? nullptr : whole->Find(inner);
  if (part == nullptr) return dims;
  dims.first = static_cast<int64_t>(part->NumberOr(first, 0));
  dims.second = static_cast<int64_t>(part->NumberOr(second, 0));
  for (int64_t d : part->IntegersOf("spatial_dims")) dims.spatial.push_back(d - 1);
  return dims;
}

// The convolution that onednn_conv_config describes; strides and paddings are counted from 1,
// dilations too.
absl::StatusOr<ConvolutionAttrs> OnednnAttrs(const ConfigValue& config, const Shape& kernel) {
  ConvolutionAttrs attrs;
  const OnednnDims in = DimsOf(config, "input", "data", "batch_dim", "feature_dim");
  const OnednnDims k =
      DimsOf(config, "kernel", "filter", "input_feature_dim", "output_feature_dim");
  const OnednnDims out = DimsOf(config, "output", "data", "batch_dim", "feature_dim");
  attrs.dim_labels = {in.first,  in.second, in.spatial, k.first,    k.second,
                      k.spatial, out.first, out.second, out.spatial};
  attrs.feature_group_count =
      std::max<int64_t>(1, static_cast<int64_t>(config.NumberOr("feature_groups", 1)));
  const ConfigValue none;
  const ConfigValue* given = config.Find("window");
  const ConfigValue& window = given == nullptr ? none : *given;
  const auto strides = window.IntegersOf("strides"), low = window.IntegersOf("pad_left"),
             high = window.IntegersOf("pad_right"),
             dilations = window.IntegersOf("window_dilations");
  for (size_t d = 0; d < k.spatial.size(); ++d) {
    if (k.spatial[d] < 0 || k.spatial[d] >= kernel.rank())
      return InvalidArgument("__onednn$convolution: spatial dimension ", k.spatial[d], " of ",
                             Text(kernel));
    WindowDim& w = attrs.window.emplace_back();
    w.size = kernel.dims[k.spatial[d]];
    if (d < strides.size()) w.stride = strides[d] - 1;
    if (d < low.size()) w.pad_low = low[d] - 1;
    if (d < high.size()) w.pad_high = high[d] - 1;
    if (d < dilations.size()) w.window_dilation = dilations[d] - 1;
  }
  return attrs;
}

}  // namespace

absl::StatusOr<Literal> OnednnConvolution(const EvalContext& context) {
  if (context.operands.size() < 2)
    return InvalidArgument("__onednn$convolution takes an input and a kernel");
  ASSIGN_OR_RETURN(const ConfigValue whole, ParseCallConfig(context.instruction.backend_config()));
  const ConfigValue* inner = whole.Find("onednn_conv_config");
  const ConfigValue& config = inner != nullptr ? *inner : whole;
  const Shape& shape = FirstArray(context.instruction.shape());
  if (!shape.IsArray()) return InvalidArgument("__onednn$convolution gives ", Text(shape));
  const Shape *const input = &context.operands[0]->shape(), *const kernel =
                                                                &context.operands[1]->shape();
  const Shape wide = Shape::Array(ElementType::kF64, shape.dims);
  Instruction conv(Opcode::kConvolution, wide, {});
  ASSIGN_OR_RETURN(conv.mutable_attr<ConvolutionAttrs>(), OnednnAttrs(config, *kernel));
  ASSIGN_OR_RETURN(const Shape inferred, InferShape(OpView(Opcode::kConvolution, {input, kernel},
                                                           conv.attributes(), {}, &wide)));
  if (inferred.dims != shape.dims)
    return InvalidArgument("__onednn$convolution gives ", Text(shape), ", but computes ",
                           Text(inferred));
  const CallComputation none;
  ASSIGN_OR_RETURN(const Literal result, EvaluateConvolution({conv, context.operands.subspan(0, 2),
                                                              none, 0, 0, nullptr}));
  std::vector<double> values = WidenTo<double>(result);
  const int64_t feature = conv.attr<ConvolutionAttrs>().dim_labels.output_feature;
  RETURN_IF_ERROR(
      ApplyOnednnFusions(context, config, RowMajorStrides(shape.dims)[feature], values));
  return VendorResult(context, {VendorLiteral(shape, values)});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
