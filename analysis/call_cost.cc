// Flops of custom calls whose names say what they compute: vendor libraries' products,
// convolutions, solvers and attention. A multiplication and an addition count one each, so that a
// product of m x k by k x n has 2 m n k flops. Unknown targets count 0.
#include "analysis/call_cost.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "analysis/dim_size.h"
#include "ops/vendor/attention_call.h"
#include "ops/vendor/call_config.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

const Shape& FirstArray(const Shape& shape) {
  return shape.IsTuple() && !shape.elements.empty() ? shape.elements[0] : shape;
}

double ElementsOfArray(const Shape& shape) {
  return shape.IsArray() ? static_cast<double>(shape.ElementCount()) : 0;
}

ConfigValue ConfigOf(const Instruction& call, absl::string_view name) {
  absl::StatusOr<ConfigValue> config = ParseCallConfig(call.backend_config());
  if (!config.ok()) return ConfigValue();
  const ConfigValue* inner = config->Find(name);
  return inner != nullptr ? *inner : *std::move(config);
}

double Gemm(const Instruction& call) {
  double flops = 2 * ElementsOfArray(FirstArray(call.shape()));
  const ConfigValue config = ConfigOf(call, "gemm_backend_config");
  const ConfigValue* dims = config.Find("dot_dimension_numbers");
  if (dims == nullptr) return 0;
  for (int64_t d : dims->IntegersOf("lhs_contracting_dimensions"))
    flops *= SizeOfDim(call.operand(0)->shape(), d);
  return flops;
}

double OnednnMatmul(const Instruction& call) {
  const Shape& a = call.operand(0)->shape();
  const bool transposed = ConfigOf(call, "onednn_matmul_config").NumberOr("transpose_a", 0) != 0;
  return 2 * ElementsOfArray(FirstArray(call.shape())) *
         SizeOfDim(a, a.rank() - (transposed ? 2 : 1));
}

// Towards input and filter as many products are formed as forward.
double Convolution(const Instruction& call) {
  const CustomCallAttrs& attrs = call.attr<CustomCallAttrs>();
  if (call.operand_count() < 2 || !attrs.dim_labels.has_value()) return 0;
  const Shape *output = &FirstArray(call.shape()), *kernel = &call.operand(1)->shape();
  if (absl::EndsWith(attrs.target, "BackwardInput")) output = &call.operand(0)->shape();
  if (absl::EndsWith(attrs.target, "BackwardFilter")) std::swap(output, kernel);
  const double features = SizeOfDim(*kernel, attrs.dim_labels->kernel_output_feature);
  return 2 * ElementsOfArray(*output) * ElementsOfArray(*kernel) / std::max(1.0, features);
}

double TriangularSolve(const Instruction& call) {
  const Shape& a = call.operand(0)->shape();
  return ElementsOfArray(FirstArray(call.shape())) * SizeOfDim(a, a.rank() - 1);
}

// Two products forward, five for the gradients; masks save nothing.
double Attention(const Instruction& call) {
  std::vector<const Shape*> operands;
  for (const Instruction* operand : call.operands()) operands.push_back(&operand->shape());
  const auto attention = ReadAttentionCall(call.attr<CustomCallAttrs>().target,
                                           ConfigOf(call, "cudnn_fmha_backend_config"), operands);
  if (!attention.ok()) return 0;
  const double pairs = static_cast<double>(attention->batch) *
                       static_cast<double>(attention->heads) *
                       static_cast<double>(attention->rows) * static_cast<double>(attention->keys);
  const auto depth = static_cast<double>(attention->depth),
             value_depth = static_cast<double>(attention->value_depth);
  return 2 * pairs * (attention->backward ? 3 * depth + 2 * value_depth : depth + value_depth);
}

// Transformer Engine's, whose first operands are Q, K and V as [batch, row, head, depth]: 4 flops a
// pair and depth forward, 10 for the gradients; masks save nothing. 0 where they are packed.
double EngineAttention(const Instruction& call) {
  if (call.operand_count() < 2) return 0;
  const Shape &q = call.operand(0)->shape(), &k = call.operand(1)->shape();
  if (!q.IsArray() || !k.IsArray() || q.rank() != 4 || k.rank() != 4) return 0;
  const bool backward = absl::StrContains(call.attr<CustomCallAttrs>().target, "backward");
  return (backward ? 10 : 4) * ElementsOfArray(q) * SizeOfDim(k, 1);
}

constexpr struct {
  absl::string_view target;  // or what it begins with
  double (*flops)(const Instruction&);
} kTargets[] = {
    {"__cublas$gemm", Gemm},
    {"__cublas$lt$matmul", Gemm},
    {"__cublas$triangularSolve", TriangularSolve},
    {"__cudnn$conv", Convolution},
    {"__cudnn$fmha", Attention},
    {"__onednn$matmul", OnednnMatmul},
    {"te_fused_attn", EngineAttention},
};

}  // namespace

double CallFlops(const Instruction& call) {
  if (call.operand_count() == 0) return 0;
  for (const auto& row : kTargets)
    if (absl::StartsWith(call.attr<CustomCallAttrs>().target, row.target)) return row.flops(call);
  return 0;
}

double WorkspaceBytes(const Instruction& call) {
  const Shape& shape = call.shape();
  if (!absl::StartsWith(call.attr<CustomCallAttrs>().target, "__") || !shape.IsTuple() ||
      shape.elements.size() < 2)
    return 0;
  const Shape& last = shape.elements.back();
  const bool bytes = last.IsArray() && last.rank() == 1 &&
                     (last.type == ElementType::kS8 || last.type == ElementType::kU8);
  return bytes ? static_cast<double>(TotalBytes(last)) : 0;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
