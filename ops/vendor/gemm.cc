// Matrix products of cuBLAS, cuBLASLt and oneDNN, with what is fused into them.
//
//   D = activation(alpha * A B + beta * C + bias)
// The product is HLO's dot of wide elements (f64, s64 or c128), so operands of one type may give a
// result of another. What follows is added in that wide type too, and each result is rounded once.
// C and bias repeat over D from its last dimension on: element i meets c[i % size].
#include <algorithm>
#include <bit>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/sums.h"
#include "ops/vendor/product_config.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

// D = activation(alpha * A B + beta * C + bias), all but the scales optional.
struct Gemm {
  const Literal *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  DotAttrs dims;
  std::shared_ptr<const Literal> spread;  // what stands for a or b, where all batches read it
  Complex alpha = 1;
  double beta = 0;
  double (*activation)(double) = nullptr;
  bool keeps_input = false;  // the activation's input is the second result
};

template <typename T>
T CastComplex(Complex value) {
  if constexpr (std::is_same_v<T, Complex>)
    return value;
  else
    return static_cast<T>(value.real());
}

// Element values of a and b may be of one type and the result of another: products are formed in
// the wide type of the result.
template <typename T>
absl::StatusOr<std::vector<T>> GemmProduct(const Gemm& gemm, const Shape& shape) {
  const ElementType wide = std::is_same_v<T, Complex>  ? ElementType::kC128
                           : std::is_same_v<T, double> ? ElementType::kF64
                                                       : ElementType::kS64;
  Instruction dot(Opcode::kDot, Shape::Array(wide, shape.dims), {});
  dot.mutable_attr<DotAttrs>() = gemm.dims;
  const Literal* const operands[] = {gemm.a, gemm.b};
  const CallComputation none;
  ASSIGN_OR_RETURN(const Literal product,
                   EvaluateDot(EvalContext{dot, operands, none, 0, 0, nullptr}));
  return WidenTo<T>(product);
}

template <typename T>
absl::StatusOr<std::vector<Literal>> RunAs(const Gemm& gemm, const Shape& shape) {
  ASSIGN_OR_RETURN(std::vector<T> d, GemmProduct<T>(gemm, shape));
  const T alpha = CastComplex<T>(gemm.alpha), beta = CastComplex<T>(Complex(gemm.beta));
  for (T& x : d) x = Times(alpha, x);
  if (gemm.c != nullptr) {
    const std::vector<T> c = WidenTo<T>(*gemm.c);
    if (c.empty() || d.size() % c.size() != 0)
      return InvalidArgument("a bias of ", Text(gemm.c->shape()), " for ", Text(shape));
    for (size_t i = 0; i < d.size(); ++i) d[i] += Times(beta, c[i % c.size()]);
  }
  if (gemm.bias != nullptr) {
    const std::vector<T> bias = WidenTo<T>(*gemm.bias);
    if (bias.empty() || d.size() % bias.size() != 0)
      return InvalidArgument("a bias of ", Text(gemm.bias->shape()), " for ", Text(shape));
    for (size_t i = 0; i < d.size(); ++i) d[i] += bias[i % bias.size()];
  }
  std::vector<Literal> parts;
  std::vector<T> input = d;
  if constexpr (std::is_same_v<T, double>)
    for (T& x : d) x = gemm.activation == nullptr ? x : gemm.activation(x);
  parts.push_back(NarrowFrom(shape, d));
  if (gemm.keeps_input) parts.push_back(NarrowFrom(shape, input));
  return parts;
}

// Of a product whose dimensions CheckSizes took.
int64_t ProductElements(const Gemm& gemm) {
  const DotAttrs& d = gemm.dims;  // batches stand in both operands
  return FreeElements(gemm.a->shape().dims, {d.lhs_contracting_dims}) *
         FreeElements(gemm.b->shape().dims, {d.rhs_contracting_dims, d.rhs_batch_dims});
}

absl::StatusOr<std::vector<Literal>> Run(const Gemm& gemm, const Shape& shape) {
  if (!shape.IsArray()) return InvalidArgument("a matrix product gives ", Text(shape));
  if (ProductElements(gemm) != shape.ElementCount())
    return InvalidArgument("a matrix product of ", Text(gemm.a->shape()), " and ",
                           Text(gemm.b->shape()), " does not give ", Text(shape));
  if (IsComplex(shape.type)) return RunAs<Complex>(gemm, shape);
  // 8-bit integers may be added up into floats.
  if (IsFloat(shape.type)) return RunAs<double>(gemm, shape);
  return RunAs<uint64_t>(gemm, shape);
}

absl::Status CheckDims(const Literal& operand, absl::Span<const int64_t> batch,
                       absl::Span<const int64_t> contracting) {
  for (absl::Span<const int64_t> list : {batch, contracting})
    for (int64_t d : list)
      if (d < 0 || d >= operand.shape().rank())
        return InvalidArgument("a matrix product over dimension ", d, " of ",
                               Text(operand.shape()));
  return absl::OkStatus();
}

// An operand that all batches read becomes one for each.
absl::Status SpreadOverBatches(Gemm& gemm) {
  const int64_t operand = OperandOfAllBatches(gemm.dims);
  if (operand < 0) return absl::OkStatus();
  const Literal* const one = operand == 0 ? gemm.a : gemm.b;
  const DimVector& others = (operand == 0 ? gemm.b : gemm.a)->shape().dims;
  RETURN_IF_ERROR(CheckDims(operand == 0 ? *gemm.b : *gemm.a, gemm.dims.lhs_batch_dims,
                            gemm.dims.rhs_batch_dims));
  DimVector dims = Pick(others, operand == 0 ? gemm.dims.rhs_batch_dims : gemm.dims.lhs_batch_dims);
  BroadcastAttrs attrs;
  for (int64_t d = 0; d < one->shape().rank(); ++d)
    attrs.dimensions.push_back(static_cast<int64_t>(dims.size()) + d);
  dims.insert(dims.end(), one->shape().dims.begin(), one->shape().dims.end());
  Instruction broadcast(Opcode::kBroadcast, Shape::Array(one->type(), dims), {});
  broadcast.mutable_attr<BroadcastAttrs>() = std::move(attrs);
  const Literal* const operands[] = {one};
  const CallComputation none;
  ASSIGN_OR_RETURN(Literal spread,
                   EvaluateBroadcast(EvalContext{broadcast, operands, none, 0, 0, nullptr}));
  gemm.spread = std::make_shared<const Literal>(std::move(spread));
  (operand == 0 ? gemm.a : gemm.b) = gemm.spread.get();
  gemm.dims = WithBatchesInFront(gemm.dims, operand);
  return absl::OkStatus();
}

absl::Status CheckSizes(const Gemm& gemm) {
  const DotAttrs& d = gemm.dims;
  RETURN_IF_ERROR(CheckDims(*gemm.a, d.lhs_batch_dims, d.lhs_contracting_dims));
  RETURN_IF_ERROR(CheckDims(*gemm.b, d.rhs_batch_dims, d.rhs_contracting_dims));
  const DimVector &a = gemm.a->shape().dims, &b = gemm.b->shape().dims;
  if (Pick(a, d.lhs_contracting_dims) == Pick(b, d.rhs_contracting_dims) &&
      Pick(a, d.lhs_batch_dims) == Pick(b, d.rhs_batch_dims))
    return absl::OkStatus();
  return InvalidArgument("a matrix product of ", Text(gemm.a->shape()), " and ",
                         Text(gemm.b->shape()), ", whose dimensions do not fit");
}

// What gemm_backend_config says, whichever object it stands in.
absl::StatusOr<Gemm> ReadGemm(const EvalContext& context, ConfigValue& config) {
  if (context.operands.size() < 2) return InvalidArgument("a matrix product takes two operands");
  ASSIGN_OR_RETURN(config, ParseCallConfig(context.instruction.backend_config()));
  if (const ConfigValue* inner = config.Find("gemm_backend_config")) {
    ConfigValue copy = *inner;
    config = std::move(copy);
  }
  Gemm gemm;
  gemm.a = context.operands[0];
  gemm.b = context.operands[1];
  gemm.alpha = {config.NumberOr("alpha_real", 1), config.NumberOr("alpha_imag", 0)};
  gemm.beta = config.NumberOr("beta", 0);
  ASSIGN_OR_RETURN(gemm.dims,
                   ReadDotDims(context.instruction.attr<CustomCallAttrs>().target, &config));
  RETURN_IF_ERROR(SpreadOverBatches(gemm));
  RETURN_IF_ERROR(CheckSizes(gemm));
  // BIAS_GELU_AUX and its like: bias, activation, and whether its input is kept.
  std::string epilogue = config.StringOr("epilogue", "DEFAULT");
  gemm.keeps_input = absl::EndsWith(epilogue, "_AUX");
  epilogue = absl::StrReplaceAll(epilogue, {{"_AUX", ""}, {"BIAS_", ""}, {"BIAS", ""}});
  ASSIGN_OR_RETURN(gemm.activation, FindActivation(epilogue));
  return gemm;
}

bool HasBias(const ConfigValue& config) {
  return absl::StrContains(config.StringOr("epilogue", ""), "BIAS");
}

}  // namespace

absl::StatusOr<Literal> CublasGemm(const EvalContext& context) {
  ConfigValue config;
  ASSIGN_OR_RETURN(Gemm gemm, ReadGemm(context, config));
  size_t next = 2;
  if (gemm.beta != 0 && next < context.operands.size()) gemm.c = context.operands[next++];
  if (HasBias(config) && next < context.operands.size()) gemm.bias = context.operands[next++];
  ASSIGN_OR_RETURN(std::vector<Literal> parts, Run(gemm, FirstArray(context.instruction.shape())));
  return VendorResult(context, std::move(parts));
}

// Operands: a, b, c where beta is not 0, scales of a and b, then scalars that scale c and d and a
// vector of biases, in any order. An f8 result may be followed by its largest magnitude before
// scaling.
absl::StatusOr<Literal> CublasF8Matmul(const EvalContext& context) {
  ConfigValue config;
  ASSIGN_OR_RETURN(Gemm gemm, ReadGemm(context, config));
  std::vector<double> scales;
  for (size_t i = 2; i < context.operands.size(); ++i) {
    const Literal& operand = *context.operands[i];
    if (operand.shape().rank() == 0)
      scales.push_back(operand.GetDouble(0));
    else if (i == 2 && gemm.beta != 0)
      gemm.c = &operand;
    else
      gemm.bias = &operand;
  }
  for (size_t i = 0; i < 2 && i < scales.size(); ++i) gemm.alpha *= scales[i];
  double d_scale = 1;
  if (gemm.c != nullptr && scales.size() > 3) gemm.beta *= scales[2];
  if (scales.size() > 2) d_scale = scales.back();
  const Shape& result = context.instruction.shape();
  const Shape& shape = FirstArray(result);
  ASSIGN_OR_RETURN(const std::vector<Literal> wide,
                   Run(gemm, Shape::Array(ElementType::kF64, shape.dims)));
  std::vector<double> values = WidenTo<double>(wide[0]);
  double largest = 0;
  for (double& x : values) {
    largest = std::max(largest, std::fabs(x));
    x *= d_scale;
  }
  std::vector<Literal> parts = {NarrowFrom(shape, values)};
  if (result.IsTuple() && result.elements.size() > 1 &&
      result.elements[1].type == ElementType::kF32 && result.elements[1].rank() == 0)
    parts.push_back(Literal::R0<float>(static_cast<float>(largest)));
  return VendorResult(context, std::move(parts));
}

namespace {

// The last two dimensions are multiplied, those before are batched.
DotAttrs MatmulDims(const Literal& a, const Literal& b, bool transpose_a, bool transpose_b) {
  DotAttrs dims;
  const int64_t rank = std::min(a.shape().rank(), b.shape().rank());
  for (int64_t d = 0; d + 2 < rank; ++d) {
    dims.lhs_batch_dims.push_back(d);
    dims.rhs_batch_dims.push_back(d);
  }
  dims.lhs_contracting_dims.push_back(a.shape().rank() - (transpose_a ? 2 : 1));
  dims.rhs_contracting_dims.push_back(b.shape().rank() -
                                      (transpose_b || b.shape().rank() == 1 ? 1 : 2));
  return dims;
}

}  // namespace

// The fused operations are done one by one, each that needs an operand taking the next.
absl::Status ApplyOnednnFusions(const EvalContext& context, const ConfigValue& config,
                                int64_t bias_stride, std::vector<double>& values) {
  const absl::string_view target = context.instruction.attr<CustomCallAttrs>().target;
  size_t next = 2;
  const ConfigValue* fusions = config.Find("fusions");
  const ConfigValue* ops = fusions == nullptr ? nullptr : fusions->Find("ops");
  for (const ConfigValue& op : ops == nullptr ? std::vector<ConfigValue>() : ops->list) {
    if (op.string == "LINEAR") {  // the factor is given by its bits
      const auto bits = static_cast<uint32_t>(fusions->NumberOr("alpha_typecast", 0x3f800000));
      for (double& x : values) x *= std::bit_cast<float>(bits);
    } else if (op.string == "BIAS" || op.string == "BINARY_ADD" || op.string == "SUM") {
      if (next >= context.operands.size()) return InvalidArgument(target, ": no ", op.string);
      const std::vector<double> added = WidenTo<double>(*context.operands[next++]);
      if (added.empty() || values.size() % added.size() != 0)
        return InvalidArgument(target, ": ", op.string, " of another shape");
      const size_t stride = added.size() == values.size() ? 1 : bias_stride;
      for (size_t i = 0; i < values.size(); ++i) values[i] += added[i / stride % added.size()];
    } else {
      ASSIGN_OR_RETURN(const auto activation, FindActivation(op.string));
      for (double& x : values) x = activation(x);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> OnednnMatmul(const EvalContext& context) {
  if (context.operands.size() < 2) return InvalidArgument("__onednn$matmul takes two operands");
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const ConfigValue* inner = config.Find("onednn_matmul_config");
  const ConfigValue& matmul = inner != nullptr ? *inner : config;
  Gemm gemm;
  gemm.a = context.operands[0];
  gemm.b = context.operands[1];
  if (gemm.a->shape().rank() == 0 || gemm.b->shape().rank() == 0)
    return InvalidArgument("__onednn$matmul of a scalar");
  gemm.dims = MatmulDims(*gemm.a, *gemm.b, matmul.NumberOr("transpose_a", 0) != 0,
                         matmul.NumberOr("transpose_b", 0) != 0);
  RETURN_IF_ERROR(CheckSizes(gemm));
  const Shape& shape = FirstArray(context.instruction.shape());
  ASSIGN_OR_RETURN(const std::vector<Literal> product,
                   Run(gemm, Shape::Array(ElementType::kF64, shape.dims)));
  std::vector<double> values = WidenTo<double>(product[0]);
  RETURN_IF_ERROR(ApplyOnednnFusions(context, matmul, /*bias_stride=*/1, values));
  return VendorResult(context, {VendorLiteral(shape, values)});
}

// Over the last dimension, or softmax_config's axis.
absl::StatusOr<Literal> OnednnSoftmax(const EvalContext& context) {
  const Shape& shape = FirstArray(context.instruction.shape());
  if (context.operands.size() != 1 || !shape.IsArray() || shape.rank() == 0 ||
      context.operands[0]->shape().dims != shape.dims)
    return InvalidArgument("__onednn$softmax from one array to another of its shape");
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const ConfigValue* inner = config.Find("onednn_softmax_config");
  const int64_t axis =
      inner == nullptr ? shape.rank() - 1
                       : static_cast<int64_t>(inner->NumberOr("softmax_axis", shape.rank() - 1));
  if (axis < 0 || axis >= shape.rank()) return InvalidArgument("__onednn$softmax: axis ", axis);
  std::vector<double> values = WidenTo<double>(*context.operands[0]);
  const int64_t n = shape.dims[axis], stride = RowMajorStrides(shape.dims)[axis];
  for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
    if (i / stride % n != 0) continue;
    double top = values[i], sum = 0;
    for (int64_t k = 1; k < n; ++k) top = std::max(top, values[i + k * stride]);
    for (int64_t k = 0; k < n; ++k)
      sum += values[i + k * stride] = std::exp(values[i + k * stride] - top);
    for (int64_t k = 0; k < n; ++k) values[i + k * stride] /= sum;
  }
  return VendorResult(context, {VendorLiteral(shape, values)});
}

// (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last dimension.
absl::StatusOr<Literal> OnednnLayerNorm(const EvalContext& context) {
  const Shape& shape = FirstArray(context.instruction.shape());
  if (context.operands.size() != 3 || !shape.IsArray() || shape.rank() == 0 ||
      context.operands[0]->shape().dims != shape.dims)
    return InvalidArgument("__onednn$layernorm takes an array, its scale and its offset");
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const ConfigValue* inner = config.Find("onednn_layer_norm_config");
  const auto bits = static_cast<uint32_t>(
      inner == nullptr ? 0 : inner->NumberOr("epsilon_typecast", 0));  // by its bits
  const double epsilon = std::bit_cast<float>(bits);
  std::vector<double> x = WidenTo<double>(*context.operands[0]);
  const std::vector<double> gamma = WidenTo<double>(*context.operands[1]);
  const std::vector<double> beta = WidenTo<double>(*context.operands[2]);
  const size_t n = shape.dims.back();
  if (gamma.size() != n || beta.size() != n)
    return InvalidArgument("__onednn$layernorm: scale and offset are not of ", n, " elements");
  for (size_t start = 0; n > 0 && start < x.size(); start += n) {
    double mean = 0, variance = 0;
    for (size_t k = 0; k < n; ++k) mean += x[start + k] / static_cast<double>(n);
    for (size_t k = 0; k < n; ++k)
      variance += (x[start + k] - mean) * (x[start + k] - mean) / static_cast<double>(n);
    const double scale = 1 / std::sqrt(variance + epsilon);
    for (size_t k = 0; k < n; ++k)
      x[start + k] = (x[start + k] - mean) * scale * gamma[k] + beta[k];
  }
  return VendorResult(context, {NarrowFrom(shape, x)});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
