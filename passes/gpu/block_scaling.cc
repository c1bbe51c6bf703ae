// block-scaling-rewriter: the framework's calls on arrays with a scale for each block, as
// operations or as cuDNN's call.
//   __op$dequantize(x[M,K], s[M,K/B])  ->  convert(x) * reshape(broadcast(convert(s)))
//   __op$quantize(x[M,K])              ->  scales: the largest of each block over the type's
//                                          greatest power of two; values: x over its scale
//   __op$block_scaled_dot(a, b, as, bs[, g])  ->  dot(dequantized a, dequantized b) * g
// All is computed in the result's type. Unlike vendor-call-expander, which reads every vendor's
// calls, this writes the very operations that XLA's pass of this name writes.
// With `cudnn`, products whose types cuDNN has (MXFP8, NVFP4) become its call: rows padded to 128,
// scales to tiles of 128 by 4, in which they are then stored; a slice takes the padding off again.
// Cost: linear in the module.
#include "ops/vendor/block_scaled_call.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr absl::string_view kQuantize = "__op$quantize", kDequantize = "__op$dequantize",
                            kScaledProduct = "__op$block_scaled_dot",
                            kCudnnProduct = "__cudnn$blockScaledDot";

bool HasPlainOperands(const Instruction& call) {
  for (const Instruction* operand : call.operands())
    if (!operand->shape().IsArray() || operand->shape().HasDynamicDims() ||
        !IsFloat(operand->shape().type))
      return false;
  return true;
}

Instruction* Front(HloWriter& w, Instruction* x, int64_t dimension, int64_t size) {
  return x->shape().dims[dimension] == size ? x : w.SliceOf(x, dimension, 0, size);
}

// x times its scales, which may be more than the blocks of x need.
Instruction* Unscaled(HloWriter& w, Instruction* x, Instruction* scale, int64_t block,
                      ElementType type) {
  const DimVector dims = x->shape().dims;
  Instruction* value = w.Convert(x, type);
  const int64_t last = x->shape().rank() - 1;
  scale = Front(w, scale, last, (dims.back() + block - 1) / block);
  if (last > 0) scale = Front(w, scale, last - 1, dims[last - 1]);
  DimVector blocks = scale->shape().dims, joined = blocks, where;
  for (int64_t d = 0; d <= last; ++d) where.push_back(d);
  blocks.push_back(block);
  joined.back() *= block;
  Instruction* spread = w.Reshape(w.Broadcast(w.Convert(scale, type), blocks, where), joined);
  return w.Binary(Opcode::kMultiply, value, Front(w, spread, last, dims.back()));
}

Instruction* Dequantize(const Instruction& call, HloWriter& w) {
  if (call.operand_count() != 2 || !call.shape().IsArray() || !IsFloat(call.shape().type) ||
      call.shape().dims != call.operand(0)->shape().dims)
    return nullptr;
  const auto block = BlockOf(kDequantize, call.operand(0)->shape(), call.operand(1)->shape());
  if (!block.ok()) return nullptr;
  return Unscaled(w, call.operand(0), call.operand(1), *block, call.shape().type);
}

// The greater magnitude of two.
Computation* GreatestMagnitude(Module& module, ElementType type) {
  Computation* c = module.AddComputation("amax");
  const Shape scalar = RowMajor(type, {});
  Instruction* lhs = c->Add(Opcode::kAbs, scalar, {c->AddParameter(0, scalar, "lhs")});
  Instruction* rhs = c->Add(Opcode::kAbs, scalar, {c->AddParameter(1, scalar, "rhs")});
  c->set_root(c->Add(Opcode::kMaximum, scalar, {lhs, rhs}));
  return c;
}

Instruction* Quantize(const Instruction& call, HloWriter& w) {
  if (call.operand_count() != 1 || !call.shape().IsTuple() || call.shape().elements.size() != 2)
    return nullptr;
  const Shape &values = call.shape().elements[0], &scales = call.shape().elements[1];
  if (!values.IsArray() || !scales.IsArray() || !IsFloat(values.type) || !IsFloat(scales.type) ||
      values.dims != call.operand(0)->shape().dims)
    return nullptr;
  const auto block = BlockOf(kQuantize, values, scales);
  if (!block.ok()) return nullptr;
  Instruction* x = call.operand(0);
  const ElementType type = x->shape().type;
  DimVector blocks = scales.dims, where;
  for (int64_t d = 0; d < scales.rank(); ++d) where.push_back(d);
  blocks.push_back(*block);
  Instruction* largest = w.Reduce(w.Reshape(x, blocks), w.Number(type, 0), {scales.rank()},
                                  GreatestMagnitude(*call.parent()->module(), type));
  Instruction* limit = w.Fill(largest->shape(), w.Number(type, QuantizationLimit(values.type)));
  Instruction* scale = w.Convert(w.Binary(Opcode::kDivide, largest, limit), scales.type);
  Instruction* spread = w.Reshape(w.Broadcast(w.Convert(scale, type), blocks, where), values.dims);
  return w.Tuple({w.Convert(w.Binary(Opcode::kDivide, x, spread), values.type), scale});
}

// ---- products

// Whether cuDNN has a kernel: MXFP8 (blocks of 32, scales f8e8m0fnu, not two f8e5m2) or NVFP4
// (blocks of 16, scales f8e4m3fn).
bool CudnnTakes(const Instruction& call, const BlockScaledDot& dot) {
  if (call.operand_count() < 4) return false;
  const ElementType result = call.shape().type;
  if (result != ElementType::kF16 && result != ElementType::kBF16 && result != ElementType::kF32)
    return false;
  const ElementType lhs = call.operand(0)->shape().type, rhs = call.operand(1)->shape().type;
  const ElementType scale = call.operand(2)->shape().type;
  if (scale != call.operand(3)->shape().type || dot.lhs_block != dot.rhs_block) return false;
  if (call.operand_count() > 4 && call.operand(4)->shape().type != ElementType::kF32) return false;
  const auto is_f8 = [](ElementType t) {
    return t == ElementType::kF8E4M3FN || t == ElementType::kF8E5M2;
  };
  if (scale == ElementType::kF8E8M0FNU && dot.lhs_block == 32)
    return is_f8(lhs) && is_f8(rhs) &&
           !(lhs == ElementType::kF8E5M2 && rhs == ElementType::kF8E5M2);
  return scale == ElementType::kF8E4M3FN && dot.lhs_block == 16 && lhs == ElementType::kF4E2M1FN &&
         rhs == ElementType::kF4E2M1FN;
}

// Zeros behind the last rows and columns up to multiples of these numbers.
Instruction* PaddedTo(HloWriter& w, Instruction* x, int64_t rows, int64_t columns) {
  const auto missing = [](int64_t size, int64_t of) { return (of - size % of) % of; };
  const int64_t rank = x->shape().rank();
  PaddingConfig padding(rank);
  padding[rank - 2].high = missing(x->shape().dims[rank - 2], rows);
  padding[rank - 1].high = missing(x->shape().dims[rank - 1], columns);
  if (padding[rank - 2].high == 0 && padding[rank - 1].high == 0) return x;
  return w.Pad(x, w.Number(x->shape().type, 0), std::move(padding));
}

// Scales in cuDNN's tiles; the transpose keeps the order in memory, as XLA's does.
Instruction* Tiled(HloWriter& w, Instruction* scale) {
  scale = PaddedTo(w, scale, 128, 4);
  const DimVector dims = scale->shape().dims;
  const DimVector to = SwizzledDims(dims);
  const DimVector order = {0, 1, 4, 3, 2, 5};
  Instruction* split = w.Reshape(scale, {to[0], to[1], to[4], to[3], to[2], to[5]});
  const Shape moved = Shape::ArrayWithLayout(scale->shape().type, to, {5, 2, 3, 4, 1, 0});
  DimensionsAttrs attrs;
  attrs.dimensions = order;
  return w.Reshape(w.rewriter().Add(Opcode::kTranspose, moved, {split}, std::move(attrs)), dims);
}

Instruction* CallCudnn(const Instruction& call, HloWriter& w) {
  std::vector<Instruction*> operands = {PaddedTo(w, call.operand(0), 128, 1),
                                        PaddedTo(w, call.operand(1), 128, 1),
                                        Tiled(w, call.operand(2)), Tiled(w, call.operand(3))};
  if (call.operand_count() > 4) operands.push_back(call.operand(4));
  const int64_t rank = call.shape().rank();
  DimVector dims = call.shape().dims;
  dims[rank - 2] = operands[0]->shape().dims[rank - 2];
  dims[rank - 1] = operands[1]->shape().dims[rank - 2];
  CustomCallAttrs attrs;
  attrs.target = std::string(kCudnnProduct);
  const Shape result =
      Shape::Tuple({RowMajor(call.shape().type, dims), RowMajor(ElementType::kU8, {0})});
  Instruction* product =
      w.Part(w.rewriter().Add(Opcode::kCustomCall, result, operands, std::move(attrs)), 0);
  SliceSpec slice;
  for (const int64_t size : call.shape().dims) slice.push_back({0, size, 1});
  return dims == call.shape().dims ? product : w.Slice(product, std::move(slice));
}

Instruction* ScaledProduct(const Instruction& call, HloWriter& w, bool cudnn) {
  const auto config = ParseCallConfig(call.backend_config());
  if (!config.ok() || !call.shape().IsArray()) return nullptr;
  std::vector<const Shape*> shapes;
  for (const Instruction* operand : call.operands()) shapes.push_back(&operand->shape());
  const auto dot = ReadBlockScaledDot(kScaledProduct, *config, shapes, call.shape());
  if (!dot.ok()) return nullptr;
  if (cudnn && CudnnTakes(call, *dot)) return CallCudnn(call, w);
  const ElementType type = call.shape().type;
  Instruction* lhs = Unscaled(w, call.operand(0), call.operand(2), dot->lhs_block, type);
  Instruction* rhs = dot->rhs_block == 0
                         ? w.Convert(call.operand(1), type)
                         : Unscaled(w, call.operand(1), call.operand(3), dot->rhs_block, type);
  const int64_t last = call.shape().rank() - 1;
  DotAttrs attrs;
  for (int64_t d = 0; d + 1 < last; ++d) {
    attrs.lhs_batch_dims.push_back(d);
    attrs.rhs_batch_dims.push_back(d);
  }
  attrs.lhs_contracting_dims = attrs.rhs_contracting_dims = {last};
  Instruction* product = w.rewriter().Add(Opcode::kDot, call.shape(), {lhs, rhs}, std::move(attrs));
  if (dot->factor_operand == 0) return product;
  Instruction* factor = w.Convert(w.Reshape(call.operand(dot->factor_operand), {}), type);
  return w.Binary(Opcode::kMultiply, product, w.Fill(product->shape(), factor));
}

absl::StatusOr<Instruction*> RewriteBlocks(Instruction* i, Rewriter& r, bool cudnn) {
  if (i->opcode() != Opcode::kCustomCall || !HasPlainOperands(*i)) return nullptr;
  HloWriter w(r);
  const std::string& target = i->attr<CustomCallAttrs>().target;
  if (target == kQuantize) return Quantize(*i, w);
  if (target == kDequantize) return Dequantize(*i, w);
  return target == kScaledProduct ? ScaledProduct(*i, w, cudnn) : nullptr;
}

}  // namespace

// block-scaling-rewriter: see above. Options: `cudnn`, products that cuDNN has become its call
// (XLA's pass asks the version of cuDNN). Rounds as the result's type does; a call whose operands
// do not fit stays.
std::unique_ptr<Pass> CreateBlockScalingRewriter(PassArguments& arguments) {
  const bool cudnn = arguments.Flag("cudnn", "calls cuDNN where it has the types");
  return MakeExpander("block-scaling-rewriter",
                      [cudnn](Instruction* i, Rewriter& r) { return RewriteBlocks(i, r, cudnn); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
