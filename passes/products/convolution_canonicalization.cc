// convolution-canonicalization: transposes convolutions to the dimension order batch, spatial,
// feature.
// Matches f16 and f32 convolutions over one to three spatial dimensions whose dimensions are not in
// the order b01f_01io->b01f (b0f, b012f); leaves one in that order, with transposes of its operands
// and of its result, those too that move nothing, as in XLA. Cost: linear.
//   dim_labels=bf01_oi01->bf01  ->  transposes, dim_labels=b01f_01io->b01f
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

Instruction* Transposed(Instruction* x, const DimVector& order, Rewriter& r) {
  Shape shape = x->shape().WithoutLayout();
  for (size_t d = 0; d < order.size(); ++d) shape.dims[d] = x->shape().dims[order[d]];
  return r.Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{order});
}

// `first`, the spatial dimensions, `last`.
DimVector Around(int64_t first, const DimVector& spatial, int64_t last) {
  DimVector order = {first};
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.push_back(last);
  return order;
}

DimVector KernelOrder(const ConvDims& dims) {
  DimVector order = dims.kernel_spatial;
  order.push_back(dims.kernel_input_feature);
  order.push_back(dims.kernel_output_feature);
  return order;
}

ConvDims CanonicalDims(int64_t spatial) {
  ConvDims dims;
  dims.input_feature = dims.output_feature = spatial + 1;
  dims.kernel_input_feature = spatial;
  dims.kernel_output_feature = spatial + 1;
  for (int64_t d = 0; d < spatial; ++d) {
    dims.input_spatial.push_back(d + 1);
    dims.output_spatial.push_back(d + 1);
    dims.kernel_spatial.push_back(d);
  }
  return dims;
}

absl::StatusOr<Instruction*> Canonicalize(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvolution || i->shape().HasDynamicDims()) return nullptr;
  const ElementType type = i->shape().type;
  if (type != ElementType::kF32 && type != ElementType::kF16) return nullptr;
  const ConvDims dims = i->attr<ConvolutionAttrs>().dim_labels;
  const auto spatial = static_cast<int64_t>(dims.input_spatial.size());
  const ConvDims wanted = CanonicalDims(spatial);
  if (spatial < 1 || spatial > 3 || dims == wanted) return nullptr;
  const DimVector out = Around(dims.output_batch, dims.output_spatial, dims.output_feature);
  Shape shape = i->shape().WithoutLayout();
  DimVector back(out.size());
  for (size_t d = 0; d < out.size(); ++d) {
    shape.dims[d] = i->shape().dims[out[d]];
    back[out[d]] = static_cast<int64_t>(d);
  }
  Instruction* input = Transposed(
      i->operand(0), Around(dims.input_batch, dims.input_spatial, dims.input_feature), r);
  Instruction* kernel = Transposed(i->operand(1), KernelOrder(dims), r);
  Instruction* made = r.Clone(i, shape, {input, kernel});
  made->mutable_attr<ConvolutionAttrs>().dim_labels = wanted;
  return r.Add(Opcode::kTranspose, i->shape(), {made}, DimensionsAttrs{std::move(back)});
}

}  // namespace

std::unique_ptr<Pass> CreateConvolutionCanonicalization() {
  return MakeExpander("convolution-canonicalization", Canonicalize);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
