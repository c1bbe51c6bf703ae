// Products and conversions of arrays with a scale for each block, and cuBLAS's grouped products.
//
// The reference for passes/vendor/vendor_scaled.cc. Elements are multiplied by their block's scale
// in f64 and handed to HLO's own dot, ragged-dot or scaled-dot evaluators.
// cuDNN's order of scales: tiles of 128 rows by 4 columns, one after the other; within a tile, row
// r and column c stand at ((r % 32) * 4 + r / 32) * 4 + c (SwizzledPlace).
#include <algorithm>
#include <cmath>

#include "ops/evaluate/values.h"
#include "ops/infer/op_table.h"
#include "ops/vendor/block_scaled_call.h"
#include "ops/vendor/product_config.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::string_view TargetOf(const EvalContext& context) {
  return context.instruction.attr<CustomCallAttrs>().target;
}

std::vector<const Shape*> ShapesOf(const EvalContext& context) {
  std::vector<const Shape*> shapes;
  for (const Literal* operand : context.operands) shapes.push_back(&operand->shape());
  return shapes;
}

// The place of scale [b, r, c] in cuDNN's order.
int64_t SwizzledPlace(const DimVector& dims, int64_t b, int64_t r, int64_t c) {
  const int64_t tile = (b * dims[1] + r / 128) * dims[2] + c / 4;
  return ((tile * 32 + r % 32) * 4 + r % 128 / 32) * 4 + c % 4;
}

// The elements of [B,R,K] or [R,K] times their scales.
Literal Dequantized(const Literal& x, const Literal& scale, int64_t block, bool swizzled) {
  const DimVector &dims = x.shape().dims, &scale_dims = scale.shape().dims;
  const int64_t rank = x.shape().rank(), rows = dims[rank - 2], depth = dims[rank - 1];
  const int64_t scale_rows = scale_dims[rank - 2], scale_columns = scale_dims[rank - 1];
  const DimVector tiles = swizzled ? SwizzledDims(scale_dims) : DimVector();
  std::vector<double> values = WidenTo<double>(x);
  const std::vector<double> scales = WidenTo<double>(scale);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t c = at % depth / block, r = at / depth % rows, b = at / depth / rows;
    values[i] *=
        scales[swizzled ? SwizzledPlace(tiles, b, r, c) : (b * scale_rows + r) * scale_columns + c];
  }
  return NarrowFrom(Shape::Array(ElementType::kF64, dims), values);
}

// What an operation of HLO gives for `operands`; its attributes stand in `instruction`. Errors:
// where the operation's rules refuse them.
absl::StatusOr<Literal> EvaluateAs(const EvalContext& context, const Instruction& instruction,
                                   absl::Span<const Literal* const> operands) {
  std::vector<const Shape*> shapes;
  for (const Literal* operand : operands) shapes.push_back(&operand->shape());
  const OpView view(instruction.opcode(), shapes, instruction.attributes(), {},
                    &instruction.shape());
  ASSIGN_OR_RETURN(const Shape inferred, InferShape(view));
  if (inferred.dims != instruction.shape().dims)
    return InvalidArgument("custom-call ", TargetOf(context), " gives ", Text(instruction.shape()),
                           ", not ", Text(inferred));
  return Evaluate(EvalContext{instruction, operands, context.call, 0, 0, nullptr});
}

// alpha * product + beta * the last operand, of `first` operands before it.
absl::StatusOr<Literal> WithFactors(const EvalContext& context, const ConfigValue& config,
                                    const Literal& product, size_t first) {
  const double alpha = config.NumberOr("alpha_real", 1), beta = config.NumberOr("beta", 0);
  std::vector<double> values = WidenTo<double>(product), added(values.size(), 0);
  if (beta != 0) {
    if (context.operands.size() <= first ||
        context.operands[first]->shape().dims != product.shape().dims)
      return InvalidArgument("custom-call ", TargetOf(context), ": beta, and nothing to add");
    added = WidenTo<double>(*context.operands[first]);
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = values[i] * alpha + (beta == 0 ? 0 : beta * added[i]);
  return VendorResult(context, {NarrowFrom(FirstArray(context.instruction.shape()), values)});
}

}  // namespace

absl::StatusOr<Literal> BlockQuantize(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands.size() != 1 || !shape.IsTuple() || shape.elements.size() != 2 ||
      !IsFloat(shape.elements[0].type))
    return InvalidArgument("custom-call __op$quantize gives ", Text(shape));
  const Literal& x = *context.operands[0];
  const Shape &small = shape.elements[0], &scale_shape = shape.elements[1];
  ASSIGN_OR_RETURN(const int64_t block, BlockOf("__op$quantize", small, scale_shape));
  if (x.shape().dims != small.dims || !IsFloat(x.shape().type))
    return InvalidArgument("custom-call __op$quantize of ", Text(x.shape()));
  std::vector<double> values = WidenTo<double>(x);
  std::vector<double> largest(scale_shape.ElementCount(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    double& top = largest[i / block];
    const double magnitude = std::fabs(values[i]);
    if (std::isnan(magnitude) || magnitude > top) top = magnitude;
  }
  for (double& top : largest) top /= QuantizationLimit(small.type);
  const Shape wide_scales = Shape::Array(x.shape().type, scale_shape.dims);
  Literal scales = NarrowFrom(scale_shape, WidenTo<double>(NarrowFrom(wide_scales, largest)));
  const std::vector<double> divisors = WidenTo<double>(scales);
  for (size_t i = 0; i < values.size(); ++i) values[i] /= divisors[i / block];
  return VendorResult(context,
                      {NarrowFrom(small, WidenTo<double>(NarrowFrom(x.shape(), values))), scales});
}

absl::StatusOr<Literal> BlockDequantize(const EvalContext& context) {
  if (context.operands.size() != 2)
    return InvalidArgument("custom-call __op$dequantize takes two operands");
  const Literal &x = *context.operands[0], &scale = *context.operands[1];
  ASSIGN_OR_RETURN(const int64_t block, BlockOf("__op$dequantize", x.shape(), scale.shape()));
  const Shape& shape = context.instruction.shape();
  if (shape.dims != x.shape().dims)
    return InvalidArgument("custom-call __op$dequantize gives ", Text(shape));
  std::vector<double> values = WidenTo<double>(x);
  const std::vector<double> scales = WidenTo<double>(scale);
  for (size_t i = 0; i < values.size(); ++i) values[i] *= scales[i / block];
  return NarrowFrom(shape, values);
}

absl::StatusOr<Literal> BlockScaledProduct(const EvalContext& context) {
  const Shape& shape = FirstArray(context.instruction.shape());
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  ASSIGN_OR_RETURN(const BlockScaledDot call,
                   ReadBlockScaledDot(TargetOf(context), config, ShapesOf(context), shape));
  const auto& in = context.operands;
  const Literal lhs = Dequantized(*in[0], *in[2], call.lhs_block, call.swizzled);
  const Literal rhs =
      call.rhs_block == 0
          ? NarrowFrom(in[1]->shape().WithType(ElementType::kF64), WidenTo<double>(*in[1]))
          : Dequantized(*in[1], *in[3], call.rhs_block, call.swizzled);
  const int64_t rank = shape.rank();
  Instruction dot(Opcode::kDot, Shape::Array(ElementType::kF64, shape.dims), {});
  DotAttrs& dims = dot.mutable_attr<DotAttrs>();
  dims.lhs_contracting_dims = dims.rhs_contracting_dims = {rank - 1};
  if (rank == 3) dims.lhs_batch_dims = dims.rhs_batch_dims = {0};
  const Literal* const operands[] = {&lhs, &rhs};
  ASSIGN_OR_RETURN(const Literal product, EvaluateAs(context, dot, operands));
  std::vector<double> values = WidenTo<double>(product);
  if (call.factor_operand != 0)
    for (double& x : values) x *= in[call.factor_operand]->GetDouble(0);
  return VendorResult(context, {NarrowFrom(shape, values)});
}

absl::StatusOr<Literal> CublasMxMatmul(const EvalContext& context) {
  if (context.operands.size() < 4)
    return InvalidArgument("custom-call ", TargetOf(context), " takes two arrays and their scales");
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const ConfigValue* gemm = config.Find("gemm_backend_config");
  ASSIGN_OR_RETURN(const DotAttrs dims, ReadDotDims(TargetOf(context), gemm));
  Instruction dot(Opcode::kScaledDot,
                  FirstArray(context.instruction.shape()).WithType(ElementType::kF64), {});
  dot.mutable_attr<DotAttrs>() = dims;
  ASSIGN_OR_RETURN(const Literal product, EvaluateAs(context, dot, context.operands.first(4)));
  return WithFactors(context, *gemm, product, 4);
}

absl::StatusOr<Literal> CublasGroupedMatmul(const EvalContext& context) {
  if (context.operands.size() < 3)
    return InvalidArgument("custom-call ", TargetOf(context), " takes two arrays and group sizes");
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  ASSIGN_OR_RETURN(const RaggedDotAttrs dims, ReadRaggedDims(TargetOf(context), config));
  const Shape& shape = FirstArray(context.instruction.shape());
  Instruction dot(Opcode::kRaggedDot, Shape::Array(shape.type, shape.dims), {});
  dot.mutable_attr<RaggedDotAttrs>() = dims;
  ASSIGN_OR_RETURN(const Literal product, EvaluateAs(context, dot, context.operands.first(3)));
  return WithFactors(context, GroupedGemmConfig(config), product, 3);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
