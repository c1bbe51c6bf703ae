// The table of vendors' targets, and what their calls share.
#include "ops/vendor/vendor_calls.h"

#include <algorithm>
#include <cmath>

#include "ops/evaluate/values.h"
#include "ops/vendor/attention_call.h"
#include "ops/vendor/solver_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr struct {
  absl::string_view target;
  VendorCall call;
} kVendorCalls[] = {
    {"ApproxTopK", ApproxTopK},
    {"LuDecomposition", LuDecomposition},
    {"PadToStatic", PadToStatic},
    {"PartialReduce", ApproxTopK},
    {"SliceToDynamic", SliceToDynamic},
    {"__cub$DeviceRadixSort", CubSort},
    {"__cub$DeviceRadixSortUnassignedScratchSize", CubSort},
    {"__cublas$gemm", CublasGemm},
    {"__cublas$lt$groupedMatmul", CublasGroupedMatmul},
    {"__cublas$lt$matmul", CublasGemm},
    {"__cublas$lt$matmul$f8", CublasF8Matmul},
    {"__cublas$lt$matmul$mx", CublasMxMatmul},
    {"__cublas$triangularSolve", CublasTriangularSolve},
    {"__cudnn$blockScaledDot", BlockScaledProduct},
    {"__cudnn$convBackwardFilter", CudnnConvolution},
    {"__cudnn$convBackwardInput", CudnnConvolution},
    {"__cudnn$convBiasActivationForward", CudnnConvolution},
    {"__cudnn$convForward", CudnnConvolution},
    {"__cudnn$convForwardGraph", CudnnConvolution},
    {"__cudnn$norm", CudnnNorm},
    {"__cusolver$cholesky", CusolverCholesky},
    {"__onednn$convolution", OnednnConvolution},
    {"__onednn$layernorm", OnednnLayerNorm},
    {"__onednn$matmul", OnednnMatmul},
    {"__onednn$softmax", OnednnSoftmax},
    {"__op$block_scaled_dot", BlockScaledProduct},
    {"__op$dequantize", BlockDequantize},
    {"__op$quantize", BlockQuantize},
    {"cpu_csr_sparse_dense_ffi", CsrProduct},
    {"cu_lu_pivots_to_permutation", PivotsToPermutation},
    {"cu_threefry2x32", Threefry},
    {"cu_threefry2x32_ffi", Threefry},
    {"cuda_lu_pivots_to_permutation", PivotsToPermutation},
    {"cuda_threefry2x32", Threefry},
    {"dce_sink", DeadCodeSink},
    {"hip_lu_pivots_to_permutation", PivotsToPermutation},
    {"hip_threefry2x32_ffi", Threefry},
    {"xla.gpu.ext.cub_scan_unassigned_scratch_size", CubScan},
    {"xla.gpu.ext.cub_sort_keys", CubSort},
    {"xla.gpu.ext.cub_sort_pairs", CubSort},
    {"xla.gpu.ext.cub_sort_unassigned_scratch_size", CubSort},
};

constexpr double kSqrt2OverPi = 0.79788456080286535588;

double Identity(double x) { return x; }
double Relu(double x) { return x > 0 || std::isnan(x) ? x : 0; }
double Relu6(double x) { return Relu(x) > 6 ? 6 : Relu(x); }
double Tanh(double x) { return std::tanh(x); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Swish(double x) { return x * Sigmoid(x); }
double Elu(double x) { return x < 0 ? std::expm1(x) : x; }
double GeluErf(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }
double GeluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(kSqrt2OverPi * (x + 0.044715 * x * x * x)));
}

constexpr struct {
  absl::string_view name;
  double (*function)(double);
} kActivations[] = {{"", Identity},        {"DEFAULT", Identity},   {"NONE", Identity},
                    {"ELU", Elu},          {"GELU", GeluTanh},      {"GELUEXACT", GeluErf},
                    {"GELU_ERF", GeluErf}, {"GELU_TANH", GeluTanh}, {"RELU", Relu},
                    {"RELU6", Relu6},      {"SIGMOID", Sigmoid},    {"SILU", Swish},
                    {"SWISH", Swish},      {"TANH", Tanh}};

}  // namespace

VendorCall FindVendorCall(absl::string_view target) {
  for (const auto& row : kVendorCalls)
    if (row.target == target) return row.call;
  if (IsAttentionTarget(target)) return CudnnAttention;
  return SolverRoutine(target).empty() ? nullptr : Cusolver;
}

absl::StatusOr<double (*)(double)> FindActivation(absl::string_view name) {
  const std::string upper = ActivationName(name);
  for (const auto& row : kActivations)
    if (row.name == upper) return row.function;
  return Unimplemented("activation ", name);
}

absl::StatusOr<Literal> VendorResult(const EvalContext& context, std::vector<Literal> parts) {
  const Shape& shape = context.instruction.shape();
  if (!shape.IsTuple()) return std::move(parts[0]);
  if (parts.size() > shape.elements.size())
    return InvalidArgument("custom-call ", context.instruction.attr<CustomCallAttrs>().target,
                           " gives ", parts.size(), " arrays, but is declared ", Text(shape));
  while (parts.size() < shape.elements.size()) parts.emplace_back(shape.elements[parts.size()]);
  return Literal::Tuple(std::move(parts));
}

Literal VendorLiteral(const Shape& shape, const std::vector<double>& values) {
  if (!IsInteger(shape.type)) return NarrowFrom(shape, values);
  const int width = BitWidth(shape.type);
  const bool is_signed = WideOf(shape.type) == Wide::kSigned;
  const double least = is_signed ? -std::ldexp(1, width - 1) : 0;
  const double limit = std::ldexp(1, is_signed ? width - 1 : width);  // the first beyond
  Literal out(shape);
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = std::isnan(values[i]) ? 0 : std::nearbyint(values[i]);
    if (x >= limit)
      out.SetInt(i, is_signed ? static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1)
                              : static_cast<int64_t>(~uint64_t{0} >> (64 - width)));
    else
      out.SetInt(i, x < 0 ? static_cast<int64_t>(std::max(x, least))
                          : static_cast<int64_t>(static_cast<uint64_t>(x)));
  }
  return out;
}

absl::StatusOr<Literal> VendorResultOf(const EvalContext& context,
                                       const std::vector<std::vector<double>>& results) {
  const Shape& whole = context.instruction.shape();
  std::vector<Literal> parts;
  for (size_t k = 0; k < results.size(); ++k) {
    if (k > 0 && (!whole.IsTuple() || k >= whole.elements.size())) break;
    const Shape& shape = whole.IsTuple() ? whole.elements[k] : whole;
    if (k > 0 && !IsFloat(shape.type)) break;  // the workspace
    if (shape.ElementCount() != static_cast<int64_t>(results[k].size()))
      return InvalidArgument("custom-call ", context.instruction.attr<CustomCallAttrs>().target,
                             " gives ", Text(shape), ", but computes ", results[k].size(),
                             " elements");
    parts.push_back(VendorLiteral(shape, results[k]));
  }
  return VendorResult(context, std::move(parts));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
