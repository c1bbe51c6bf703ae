// Evaluates convolution with any strides, paddings, dilations, reversals and groups.
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/sums.h"
#include "ops/evaluate/window.h"

namespace hlokit {
namespace {

// The arrays in one order of dimensions: input [batch, spatial.., feature], kernel [spatial.., in,
// out].
template <typename T>
class Convolver {
 public:
  Convolver(const EvalContext& context, const Shape& result)
      : attrs_(context.instruction.attr<ConvolutionAttrs>()),
        dims_(attrs_.dim_labels),
        input_shape_(context.operands[0]->shape()),
        kernel_shape_(context.operands[1]->shape()),
        input_order_(Join({dims_.input_batch}, dims_.input_spatial, {dims_.input_feature})),
        kernel_order_(
            Join(dims_.kernel_spatial, {dims_.kernel_input_feature, dims_.kernel_output_feature})),
        output_order_(Join({dims_.output_batch}, dims_.output_spatial, {dims_.output_feature})),
        input_(Arrange(WidenTo<T>(*context.operands[0]), input_shape_.dims, input_shape_.dims,
                       input_order_)),
        kernel_(Arrange(WidenTo<T>(*context.operands[1]), kernel_shape_.dims, kernel_shape_.dims,
                        kernel_order_)),
        features_(input_shape_.dims[dims_.input_feature]),
        out_features_(result.dims[dims_.output_feature]),
        out_batch_(result.dims[dims_.output_batch]),
        spatial_(Pick(input_shape_.dims, dims_.input_spatial)),
        out_spatial_(Pick(result.dims, dims_.output_spatial)),
        map_(attrs_.window, Pick(RuntimeDims(*context.operands[0]), dims_.input_spatial),
             RowMajorStrides(spatial_), out_spatial_) {}

  std::vector<T> Run(const Shape& result) {
    std::vector<T> out(result.ElementCount());
    T* row = out.data();
    for (int64_t batch = 0; batch < out_batch_ && !out.empty(); ++batch) {
      ForEachIndex(out_spatial_, [&](absl::Span<const int64_t> at) {
        AddWindow(batch, at, row);
        row += out_features_;
      });
    }
    // Back to the order of the result: dimension output_order_[i] of it is dimension i here.
    DimVector inverse(output_order_.size());
    for (size_t i = 0; i < output_order_.size(); ++i) inverse[output_order_[i]] = i;
    const DimVector dims = Pick(result.dims, output_order_);
    return Arrange(out, dims, dims, inverse);
  }

 private:
  // All output features at one place.
  void AddWindow(int64_t batch, absl::Span<const int64_t> at, T* row) {
    int64_t w = 0;
    ForEachIndex(map_.window_sizes(), [&](absl::Span<const int64_t> window) {
      const int64_t pixel = map_.Offset(at, window);
      if (pixel >= 0) AddPixel(batch, pixel, w, row);
      ++w;
    });
  }

  void AddPixel(int64_t batch, int64_t pixel, int64_t w, T* row) {
    const int64_t groups =
        attrs_.feature_group_count * attrs_.batch_group_count;  // one of them is 1
    const int64_t in = features_ / attrs_.feature_group_count, out = out_features_ / groups;
    const int64_t pixels = Product(spatial_);
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t from_batch = attrs_.batch_group_count > 1 ? group * out_batch_ + batch : batch;
      const int64_t first = attrs_.feature_group_count > 1 ? group * in : 0;
      const T* x = &input_[(from_batch * pixels + pixel) * features_ + first];
      const T* k = &kernel_[w * in * out_features_ + group * out];
      T* r = row + group * out;
      for (int64_t i = 0; i < in; ++i, k += out_features_)
        for (int64_t o = 0; o < out; ++o) r[o] += Times(x[i], k[o]);
    }
  }

  const ConvolutionAttrs& attrs_;
  const ConvDims& dims_;
  const Shape &input_shape_, &kernel_shape_;
  DimVector input_order_, kernel_order_, output_order_;
  std::vector<T> input_, kernel_;
  int64_t features_, out_features_, out_batch_;
  DimVector spatial_, out_spatial_;
  WindowMap map_;
};

}  // namespace

absl::StatusOr<Literal> EvaluateConvolution(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands[0]->element_count() == 0 || context.operands[1]->element_count() == 0)
    return Literal(shape);
  if (SumsAreConverted(*context.operands[0], *context.operands[1], shape.type))
    return ConvertSums(shape, Convolver<double>(context, shape).Run(shape));
  return VisitSum(shape.type, [&](auto own) {
    return NarrowFrom(shape, Convolver<decltype(own)>(context, shape).Run(shape));
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
