// Inference of convolution.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// c2: the labels name each dimension of an array once.
absl::Status CheckLabels(const OpView& op, absl::string_view what, int64_t first, int64_t second,
                         const DimVector& spatial, int64_t rank, size_t spatial_rank) {
  DimVector all = spatial;
  all.push_back(first);
  all.push_back(second);
  if (spatial.size() == spatial_rank && IsPermutation(all, rank)) return absl::OkStatus();
  return Fail(op, 2, "dim_labels do not name the ", rank, " dimensions of the ", what,
              " once each");
}

absl::Status CheckAllLabels(const OpView& op, const ConvDims& labels) {
  const size_t spatial = labels.input_spatial.size();
  const int64_t rank = static_cast<int64_t>(spatial) + 2;
  RETURN_IF_ERROR(CheckLabels(op, "input", labels.input_batch, labels.input_feature,
                              labels.input_spatial, op.operand(0).rank(), spatial));
  RETURN_IF_ERROR(CheckLabels(op, "kernel", labels.kernel_input_feature,
                              labels.kernel_output_feature, labels.kernel_spatial,
                              op.operand(1).rank(), spatial));
  return CheckLabels(op, "output", labels.output_batch, labels.output_feature,
                     labels.output_spatial, rank, spatial);
}

bool Divides(int64_t divisor, int64_t size) { return size == kUnbounded || size % divisor == 0; }

// c3: group counts are positive and not both above 1; c4: they divide the features and the batch;
// c5: the kernel takes the features of one group.
absl::Status CheckGroups(const OpView& op, int64_t features, int64_t batch, int64_t kernel_in,
                         int64_t kernel_out) {
  const auto& attr = op.attr<ConvolutionAttrs>();
  const int64_t by_feature = attr.feature_group_count;
  const int64_t by_batch = attr.batch_group_count;
  if (by_feature < 1 || by_batch < 1 || (by_feature > 1 && by_batch > 1))
    return Fail(op, 3, "feature_group_count=", by_feature, " and batch_group_count=", by_batch,
                " must be positive and not both above 1");
  if (!Divides(by_feature, features) || !Divides(by_feature, kernel_out) ||
      !Divides(by_batch, kernel_out) || !Divides(by_batch, batch))
    return Fail(op, 4, "feature_group_count=", by_feature, " and batch_group_count=", by_batch,
                " do not divide ", features, " input features, ", kernel_out,
                " output features and ", batch, " batches");
  if (features != kUnbounded && !SizesAgree(features / by_feature, kernel_in))
    return Fail(op, 5, "the kernel takes ", kernel_in, " input features, expected ",
                features / by_feature);
  return absl::OkStatus();
}

// c6: the window is as large as the kernel.
absl::Status CheckWindowSize(const OpView& op, const ConvDims& labels, const Window& window) {
  const Shape& kernel = op.operand(1);
  for (size_t i = 0; i < window.size() && i < labels.kernel_spatial.size(); ++i)
    if (!SizesAgree(window[i].size, kernel.dims[labels.kernel_spatial[i]]))
      return Fail(op, 6, "window size ", window[i].size, " differs from dimension ",
                  labels.kernel_spatial[i], " of the kernel ", Text(kernel));
  return absl::OkStatus();
}

}  // namespace

// c7: the operands' types can meet and the stated type can hold sums of their products; c8: the
// kernel's output features are not dynamic.
absl::StatusOr<Shape> InferConvolution(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const auto& attr = op.attr<ConvolutionAttrs>();
  const ConvDims& labels = attr.dim_labels;
  const Shape& input = op.operand(0);
  const Shape& kernel = op.operand(1);
  RETURN_IF_ERROR(CheckAllLabels(op, labels));
  const int64_t batch = input.dims[labels.input_batch];
  const int64_t features = kernel.dims[labels.kernel_output_feature];
  RETURN_IF_ERROR(CheckGroups(op, input.dims[labels.input_feature], batch,
                              kernel.dims[labels.kernel_input_feature], features));
  RETURN_IF_ERROR(CheckWindowSize(op, labels, attr.window));
  if (features != kUnbounded && kernel.IsDynamic(static_cast<int>(labels.kernel_output_feature)))
    return Fail(op, 8, "the kernel's output features are dynamic: ", Text(kernel));
  DimVector spatial;
  for (int64_t d : labels.input_spatial) spatial.push_back(input.dims[d]);
  ASSIGN_OR_RETURN(spatial, WindowedDims(op, spatial, attr.window));
  ASSIGN_OR_RETURN(const ElementType type, AccumulationType(op, input.type, kernel.type, 7));
  Shape result = Shape::Array(type, DimVector(input.rank(), 0));
  auto set = [&](int64_t d, int64_t size, bool dynamic) {
    result.dims[d] = size;
    result.SetDynamic(static_cast<int>(d), dynamic);
  };
  set(labels.output_batch, batch == kUnbounded ? batch : batch / attr.batch_group_count,
      input.IsDynamic(static_cast<int>(labels.input_batch)));
  set(labels.output_feature, features, features == kUnbounded);
  for (size_t i = 0; i < spatial.size(); ++i)
    set(labels.output_spatial[i], spatial[i],
        input.IsDynamic(static_cast<int>(labels.input_spatial[i])) ||
            kernel.IsDynamic(static_cast<int>(labels.kernel_spatial[i])));
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
