// Crops the operands, evaluates, and puts the result into its bounds.
//
//   convolution of f32[<=8,3], of which 5 rows are there  ->  evaluated on f32[5,3], the result put
//   into its bounded array, with the sizes that inference gives for 5
// So evaluators need not know dynamic sizes. Attributes that state sizes (windows, slices, lengths
// of transforms) are made to fit by an adapter for each opcode, which may also say that the op is
// better evaluated within its bounds.
#include <algorithm>
#include <vector>

#include "ops/dim_lists.h"
#include "ops/evaluate/movement.h"
#include "ops/evaluate/runtime_sizes.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The operands' sizes at run time, and a copy of the op whose attributes go with them.
struct AtRuntime {
  std::unique_ptr<Instruction> call;
  std::vector<DimVector> dims;

  template <typename A>
  A& attr() const {
    return call->mutable_attr<A>();
  }
};

// The adapters make attributes and the sizes of further operands fit those of the first; false
// where the op is better evaluated within its bounds.
bool Nothing(AtRuntime&) { return true; }

// Scale, offset, mean and variance have as many elements as there are features.
bool FitFeatures(AtRuntime& at) {
  const int64_t features = at.dims[0][at.attr<BatchNormAttrs>().feature_index];
  for (DimVector& dims : at.dims)
    if (dims.size() == 1) dims[0] = features;
  return true;
}

bool FitKernel(AtRuntime& at) {
  auto& attrs = at.attr<ConvolutionAttrs>();
  const ConvDims& labels = attrs.dim_labels;
  DimVector& kernel = at.dims[1];
  int64_t& features = kernel[labels.kernel_input_feature];
  features = std::min(features, at.dims[0][labels.input_feature] / attrs.feature_group_count);
  at.dims[0][labels.input_feature] = features * attrs.feature_group_count;
  for (size_t d = 0; d < attrs.window.size(); ++d)
    attrs.window[d].size = kernel[labels.kernel_spatial[d]];
  return true;
}

// Lines are transformed as long as they are; those that an IRFFT makes stay of even or odd length.
bool FitTransforms(AtRuntime& at) {
  auto& attrs = at.attr<FftAttrs>();
  const size_t first = at.dims[0].size() - attrs.fft_length.size();
  for (size_t i = 0; i < attrs.fft_length.size(); ++i) {
    const int64_t size = at.dims[0][first + i];
    const bool halved = i + 1 == attrs.fft_length.size() && attrs.fft_type == FftType::kIrfft;
    int64_t& length = attrs.fft_length[i];
    length = !halved ? size : size == 0 ? 0 : 2 * (size - 1) + length % 2;
  }
  return true;
}

// Slices reach no further than the operand; from one without elements no single row can be taken.
bool FitSlices(AtRuntime& at) {
  const auto& attrs = at.attr<GatherAttrs>();
  DimVector& sizes = at.attr<GatherAttrs>().slice_sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool single =
        Contains(attrs.collapsed_slice_dims, d) || Contains(attrs.operand_batching_dims, d);
    if (single && at.dims[0][d] == 0) return false;
    sizes[d] = std::min(sizes[d], at.dims[0][d]);
  }
  return true;
}

// Windows of updates reach no further than the operand, and there is one for each index vector.
bool FitUpdates(AtRuntime& at) {
  const auto& attrs = at.attr<ScatterAttrs>();
  const size_t n = at.dims.size() / 2;
  DimVector& indices = at.dims[n];
  const DimVector window = Others(static_cast<int64_t>(at.dims[0].size()),
                                  attrs.inserted_window_dims, attrs.input_batching_dims);
  const DimVector batch = Others(static_cast<int64_t>(indices.size()), {attrs.index_vector_dim});
  for (size_t u = n + 1; u < at.dims.size(); ++u) {
    const DimVector own_batch =
        Others(static_cast<int64_t>(at.dims[u].size()), attrs.update_window_dims);
    for (size_t d = 0; d < window.size(); ++d) {
      int64_t& size = at.dims[u][attrs.update_window_dims[d]];
      size = std::min(size, at.dims[0][window[d]]);
    }
    for (size_t d = 0; d < batch.size(); ++d)
      indices[batch[d]] = std::min(indices[batch[d]], at.dims[u][own_batch[d]]);
  }
  for (size_t u = n + 1; u < at.dims.size(); ++u) {
    const DimVector own_batch =
        Others(static_cast<int64_t>(at.dims[u].size()), attrs.update_window_dims);
    for (size_t d = 0; d < batch.size(); ++d) at.dims[u][own_batch[d]] = indices[batch[d]];
  }
  return true;
}

constexpr struct {
  Opcode opcode;
  bool (*fit)(AtRuntime&);
} kOps[] = {{Opcode::kBatchNormGrad, FitFeatures},
            {Opcode::kBatchNormInference, FitFeatures},
            {Opcode::kBatchNormTraining, FitFeatures},
            {Opcode::kCholesky, Nothing},
            {Opcode::kConvolution, FitKernel},
            {Opcode::kFft, FitTransforms},
            {Opcode::kGather, FitSlices},
            {Opcode::kReduceWindow, Nothing},
            {Opcode::kScatter, FitUpdates},
            {Opcode::kTopK, Nothing},
            {Opcode::kTriangularSolve, Nothing}};

// The stated types with the inferred dimensions.
Shape Retyped(const Shape& inferred, const Shape& stated) {
  if (!inferred.IsTuple()) return Shape::Array(stated.type, inferred.dims);
  std::vector<Shape> elements;
  for (size_t i = 0; i < inferred.elements.size(); ++i)
    elements.push_back(Retyped(inferred.elements[i], stated.elements[i]));
  return Shape::Tuple(std::move(elements));
}

Literal IntoBounds(const Literal& part, const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (size_t i = 0; i < shape.elements.size(); ++i)
      elements.push_back(IntoBounds(part.elements()[i], shape.elements[i]));
    return Literal::Tuple(std::move(elements));
  }
  Literal whole(shape);
  PlaceBox(part, DimVector(shape.rank(), 0), whole);
  for (int d = 0; d < shape.rank(); ++d)
    if (shape.IsDynamic(d)) whole.set_dynamic_size(d, part.shape().dims[d]);
  return whole;
}

// Arrays of a reduce-window that differ in sizes: what takes their places, all of one size.
std::vector<Literal> UnifyWindowed(const EvalContext& context, AtRuntime& at) {
  if (context.instruction.opcode() != Opcode::kReduceWindow) return {};
  const size_t n = context.operands.size() / 2;
  const auto arrays = context.operands.subspan(0, n);
  std::vector<Literal> filled = FilledWhereSizesDiffer(arrays, context.operands.subspan(n));
  for (size_t k = 0; k < filled.size(); ++k)
    for (size_t d = 0; d < at.dims[k].size(); ++d)
      at.dims[k][d] = LastSize(arrays, static_cast<int>(d));
  return filled;
}

bool AnyRuntimeSizes(const EvalContext& context) {
  return std::any_of(context.operands.begin(), context.operands.end(),
                     [](const Literal* operand) { return HasDynamicSizes(*operand); });
}

}  // namespace

absl::StatusOr<std::optional<Literal>> EvaluateAtRuntimeSizes(const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  const auto* op = std::find_if(std::begin(kOps), std::end(kOps), [&](const auto& row) {
    return row.opcode == instruction.opcode();
  });
  if (op == std::end(kOps) || !AnyRuntimeSizes(context)) return std::optional<Literal>();
  AtRuntime at{instruction.CloneWith(instruction.shape(), {}), {}};
  for (const Literal* operand : context.operands) at.dims.push_back(RuntimeDims(*operand));
  const std::vector<Literal> filled = UnifyWindowed(context, at);
  if (!op->fit(at)) return std::optional<Literal>();
  std::vector<Literal> cropped;
  std::vector<const Literal*> operands;
  std::vector<const Shape*> shapes;
  cropped.reserve(at.dims.size());
  for (size_t o = 0; o < at.dims.size(); ++o) {
    const DimVector start(at.dims[o].size(), 0);
    const Literal& whole = o < filled.size() ? filled[o] : *context.operands[o];
    cropped.push_back(SliceBox(whole, start, at.dims[o]));
    operands.push_back(&cropped.back());
    shapes.push_back(&cropped.back().shape());
  }
  ASSIGN_OR_RETURN(const Shape inferred,
                   InferShape(OpView(at.call->opcode(), shapes, at.call->attributes(),
                                     at.call->called(), &instruction.shape())));
  at.call->set_shape(Retyped(inferred, instruction.shape()));
  ASSIGN_OR_RETURN(const Literal value,
                   Evaluate({*at.call, operands, context.call, context.replica, context.partition,
                             context.communicate, context.partitions}));
  return std::optional<Literal>(IntoBounds(value, instruction.shape()));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
