// Products and conversions of arrays with a scale for each block, and cuBLAS's grouped products.
//
// A block of 16 (NVFP4) or 32 (MXFP8) neighbours in the last dimension shares one scale:
//   x f4e2m1fn[128,64], scale f8e4m3fn[128,4]   ->   value[r, c] = x[r, c] * scale[r, c / 16]
// The scales are broadcast over their blocks and multiplied in f32 before an ordinary dot. cuDNN
// stores them in tiles of 128 rows by 4 columns with the rows interleaved, and pads both; a
// reshape, a transpose and a reshape bring them into rows, and slices drop the padding.
// Grouped products are ragged dots; those with scales as operands (mx) are scaled dots.
#include "ops/infer/op_table.h"
#include "ops/vendor/block_scaled_call.h"
#include "ops/vendor/product_config.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/vendor/vendor_calls_internal.h"

namespace hlokit {
namespace {

Instruction* RowMajor(VendorCall& c, Instruction* x) {
  return c.As(x, x->shape().WithDefaultLayout());
}

// Each scale `block` times along the last dimension, of which `depth` remain.
Instruction* Spread(HloWriter& w, Instruction* scale, int64_t block, int64_t depth) {
  DimVector blocks = scale->shape().dims, where, joined = blocks;
  for (size_t d = 0; d < blocks.size(); ++d) where.push_back(static_cast<int64_t>(d));
  const int64_t last = static_cast<int64_t>(blocks.size()) - 1;
  blocks.push_back(block);
  joined.back() *= block;
  return w.SliceOf(w.Reshape(w.Broadcast(scale, blocks, where), joined), last, 0, depth);
}

// x[..., R, K] times its scales, in f32.
Instruction* Dequantized(VendorCall& c, Instruction* x, Instruction* scale, int64_t block,
                         bool swizzled) {
  HloWriter w(c.rewriter());
  x = w.Convert(RowMajor(c, x), ElementType::kF32);
  scale = w.Convert(RowMajor(c, scale), ElementType::kF32);
  const DimVector dims = x->shape().dims, scale_dims = scale->shape().dims;
  const auto rank = static_cast<int64_t>(dims.size());
  if (swizzled) {
    Instruction* tiles = w.Reshape(scale, SwizzledDims(scale_dims));
    scale = w.Reshape(w.Transpose(tiles, {0, 1, 4, 3, 2, 5}), scale_dims);
  }
  if (rank > 1) scale = w.SliceOf(scale, rank - 2, 0, dims[rank - 2]);
  return w.Binary(Opcode::kMultiply, x, Spread(w, scale, block, dims.back()));
}

// An operation on the first operands of a call; null where its rules refuse them.
template <typename Attrs>
Instruction* Operation(VendorCall& c, Opcode opcode, size_t operands, const Attrs& attrs) {
  std::vector<Instruction*> given;
  for (size_t o = 0; o < operands; ++o) given.push_back(RowMajor(c, c.operand(o)));
  const Shape shape =
      Shape::Array(VendorCall::Wide(c.result().type), c.result().dims).WithDefaultLayout();
  Instruction* made = c.rewriter().Add(opcode, shape, given, attrs);
  const absl::StatusOr<Shape> inferred = InferShape(*made);
  return inferred.ok() && inferred->dims == shape.dims ? made : nullptr;
}

// alpha * product + beta * the operand after the product's.
VendorCall::Parts WithFactors(VendorCall& c, Instruction* product, const ConfigValue& config,
                              int64_t next) {
  if (product == nullptr) return {};
  product = c.Scaled(product, config.NumberOr("alpha_real", 1));
  const double beta = config.NumberOr("beta", 0);
  if (beta == 0) return {product};
  if (next >= c.operand_count() || c.operand(next)->shape().dims != product->shape().dims)
    return {};
  return {c.Plus(product, RowMajor(c, c.operand(next)), beta)};
}

}  // namespace

VendorCall::Parts ExpandGroupedMatmul(VendorCall& c) {
  const auto dims = ReadRaggedDims(c.attrs().target, c.config());
  if (!dims.ok() || c.operand_count() < 3) return {};
  Instruction* product = Operation(c, Opcode::kRaggedDot, 3, *dims);
  return WithFactors(c, product, GroupedGemmConfig(c.config()), 3);
}

VendorCall::Parts ExpandMxMatmul(VendorCall& c) {
  const ConfigValue& config = c.config("gemm_backend_config");
  const auto dims = ReadDotDims(c.attrs().target, &config);
  if (!dims.ok() || c.operand_count() < 4) return {};
  return WithFactors(c, Operation(c, Opcode::kScaledDot, 4, *dims), config, 4);
}

VendorCall::Parts ExpandBlockScaledDot(VendorCall& c) {
  const auto call =
      ReadBlockScaledDot(c.attrs().target, c.config(), c.operand_shapes(), c.result());
  if (!call.ok()) return {};
  HloWriter w(c.rewriter());
  Instruction* lhs = Dequantized(c, c.operand(0), c.operand(2), call->lhs_block, call->swizzled);
  Instruction* rhs = call->rhs_block == 0 ? w.Convert(RowMajor(c, c.operand(1)), ElementType::kF32)
                                          : Dequantized(c, c.operand(1), c.operand(3),
                                                        call->rhs_block, call->swizzled);
  const int64_t rank = c.result().rank();
  Instruction* product = w.Dot(lhs, rhs, rank - 1, rank - 1, rank - 2);
  if (call->factor_operand == 0) return {product};
  Instruction* factor = w.Convert(c.operand(call->factor_operand), ElementType::kF32);
  return {w.Binary(Opcode::kMultiply, product, w.Fill(product->shape(), w.Reshape(factor, {})))};
}

VendorCall::Parts ExpandDequantize(VendorCall& c) {
  if (c.operand_count() != 2 || !IsFloat(c.result().type)) return {};
  const auto block = BlockOf(c.attrs().target, c.operand(0)->shape(), c.operand(1)->shape());
  if (!block.ok()) return {};
  return {Dequantized(c, c.operand(0), c.operand(1), *block, /*swizzled=*/false)};
}

// A scale brings the largest element of its block to the greatest power of two of the small type.
VendorCall::Parts ExpandQuantize(VendorCall& c) {
  if (c.operand_count() != 1 || c.result_count() != 2 || !IsFloat(c.operand(0)->shape().type) ||
      !IsFloat(c.result(0).type) || !IsFloat(c.result(1).type) ||
      c.operand(0)->shape().dims != c.result(0).dims)
    return {};
  const auto block = BlockOf(c.attrs().target, c.result(0), c.result(1));
  if (!block.ok()) return {};
  HloWriter w(c.rewriter());
  Instruction* x = RowMajor(c, c.operand(0));
  const ElementType type = x->shape().type;
  DimVector blocks = c.result(1).dims;
  blocks.push_back(*block);
  Instruction* magnitudes = w.Unary(Opcode::kAbs, w.Reshape(x, blocks));
  Instruction* largest = c.Reduced(Opcode::kMaximum, magnitudes, {c.result(1).rank()});
  largest = w.WithNumber(Opcode::kDivide, largest, QuantizationLimit(c.result(0).type));
  Instruction* scale = w.Convert(largest, c.result(1).type);
  Instruction* spread = Spread(w, w.Convert(scale, type), *block, x->shape().dims.back());
  return {w.Binary(Opcode::kDivide, x, spread), scale};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
