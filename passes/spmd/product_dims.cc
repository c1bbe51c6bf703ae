// The dimensions of products. A convolution's batch and features are those of a dot; a dimension of
// its window that is all of the kernel is contracted, one that the kernel does not have is free.
//   f32[8,4] dot f32[4,6]   lhs_free {0,-1,0}   contracting {1,0,-1}   rhs_free {-1,1,1}
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/spmd/spread_rules.h"

namespace hlokit {
namespace {

// Of a dot whose result's dimensions begin with number `output`; those of `groups` on the right
// side go along with none.
template <typename Attrs>
ProductDims OfDotLike(const Instruction& i, const Attrs& attrs, int64_t output,
                      absl::Span<const int64_t> groups) {
  ProductDims dims;
  for (size_t k = 0; k < attrs.lhs_batch_dims.size(); ++k)
    dims.batch.push_back({attrs.lhs_batch_dims[k], attrs.rhs_batch_dims[k], output++});
  for (size_t k = 0; k < attrs.lhs_contracting_dims.size(); ++k)
    dims.contracting.push_back({attrs.lhs_contracting_dims[k], attrs.rhs_contracting_dims[k], -1});
  for (int64_t d = 0; d < i.operand(0)->shape().rank(); ++d)
    if (!Contains(attrs.lhs_batch_dims, d) && !Contains(attrs.lhs_contracting_dims, d))
      dims.lhs_free.push_back({d, -1, output++});
  for (int64_t d = 0; d < i.operand(1)->shape().rank(); ++d)
    if (!Contains(attrs.rhs_batch_dims, d) && !Contains(attrs.rhs_contracting_dims, d) &&
        !Contains(groups, d))
      dims.rhs_free.push_back({-1, d, output++});
  return dims;
}

ProductDims OfDot(const Instruction& i) { return OfDotLike(i, i.attr<DotAttrs>(), 0, {}); }

// The ragged dimension is of the left side: where it is free, the right side has one matrix for
// each group; where it is contracted, the result has. The dimension of groups goes along with none.
ProductDims OfRaggedDot(const Instruction& i) {
  const auto& attrs = i.attr<RaggedDotAttrs>();
  const bool contracts = !attrs.lhs_ragged_dims.empty() &&
                         Contains(attrs.lhs_contracting_dims, attrs.lhs_ragged_dims[0]);
  return OfDotLike(i, attrs, contracts ? 1 : 0, attrs.rhs_group_dims);
}

bool IsDense(const WindowDim& w) { return w.base_dilation == 1 && w.window_dilation == 1; }

// A window that sees one element for each place of the result, another one each time: how dots with
// batch dimensions are written as convolutions.
bool IsBatch(const WindowDim& w, int64_t lhs) {
  if (lhs == w.size && w.stride == std::max<int64_t>(1, lhs - 1) && w.base_dilation == lhs &&
      w.window_dilation == 1 && w.pad_low == 0 && w.pad_high == 0 && !w.reversal)
    return true;
  return lhs == w.size && w.stride == 1 && w.window_dilation == lhs && w.base_dilation == lhs - 1 &&
         w.pad_low == lhs - 1 && w.pad_high == lhs - 1 && w.reversal;
}

void AddSpatial(ProductDims& dims, const WindowDim& w, ProductDims::Dim dim, int64_t lhs,
                int64_t output) {
  if (IsBatch(w, lhs)) {
    dims.batch.push_back(dim);
  } else if (lhs == w.size && IsDense(w) && w.pad_low == 0 && w.pad_high == 0 && !w.reversal) {
    dims.contracting.push_back(dim);
  } else if (w.size == 1 && output == lhs && w.stride == 1 && IsDense(w) && w.pad_low == 0 &&
             w.pad_high == 0) {
    dims.lhs_free.push_back(dim);
  } else if (lhs == 1 && w.size == output && w.pad_low == w.size - 1 && w.pad_high == w.size - 1 &&
             w.stride == 1 && IsDense(w) && w.reversal) {
    dims.rhs_free.push_back(dim);
  } else {
    dims.spatial.push_back(dim);
  }
}

ProductDims OfConvolution(const Instruction& i) {
  const auto& attrs = i.attr<ConvolutionAttrs>();
  const ConvDims& labels = attrs.dim_labels;
  const Shape& lhs = i.operand(0)->shape();
  ProductDims dims;
  dims.lhs_free.push_back({labels.input_batch, -1, labels.output_batch});
  dims.contracting.push_back({labels.input_feature, labels.kernel_input_feature, -1});
  dims.rhs_free.push_back({-1, labels.kernel_output_feature, labels.output_feature});
  for (size_t k = 0; k < labels.input_spatial.size(); ++k) {
    const ProductDims::Dim dim = {labels.input_spatial[k], labels.kernel_spatial[k],
                                  labels.output_spatial[k]};
    AddSpatial(dims, k < attrs.window.size() ? attrs.window[k] : WindowDim(), dim,
               lhs.dims[dim.lhs], i.shape().dims[dim.output]);
  }
  return dims;
}

}  // namespace

ProductDims ProductDimsOf(const Instruction& i) {
  if (i.opcode() == Opcode::kRaggedDot) return OfRaggedDot(i);
  return i.opcode() == Opcode::kDot ? OfDot(i) : OfConvolution(i);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
