// Reads __cudnn$fmha... calls.
//
// The target says whether there is a bias and whether it is the backward call; the operands follow
// in a fixed order:
//   forward    Q, K, V, [bias], [lengths of queries and keys where the mask pads]
//   backward   Q, K, V, statistics, gradient of the output, [bias], output, [lengths]
// The layout of Q, K and V ([b, heads, rows, d] or [b, rows, heads, d]) is told by the dimension
// numbers in the configuration. All sizes are checked here, once, so that evaluator and expansion
// may index freely. Dropout, packed sequences and pages are refused by name.
#include "ops/vendor/attention_call.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kTargets[] = {"__cudnn$fmhaScaleBiasSoftmax",
                                          "__cudnn$fmhaScaleBiasSoftmaxBackward",
                                          "__cudnn$fmhaScaleBiasSoftmaxDropout",
                                          "__cudnn$fmhaScaleBiasSoftmaxDropoutBackward",
                                          "__cudnn$fmhaSoftmax",
                                          "__cudnn$fmhaSoftmaxBackward",
                                          "__cudnn$fmhaSoftmaxDropout",
                                          "__cudnn$fmhaSoftmaxDropoutBackward"};

absl::Status Misfit(absl::string_view target) {
  return InvalidArgument("custom-call ", target, ": its operands do not fit together");
}

// The mask, and what is not done.
absl::Status ReadMask(absl::string_view target, const ConfigValue& config, AttentionCall& call,
                      bool& padded) {
  const std::string mask = config.StringOr("mask_type", "NO_MASK");
  padded = absl::StartsWith(mask, "PADDING");
  call.causal = absl::EndsWith(mask, "CAUSAL");
  call.window = static_cast<int64_t>(config.NumberOr("sliding_window_length", 0));
  if (!padded && !call.causal && mask != "NO_MASK")
    return Unimplemented("custom-call ", target, " with mask_type ", mask);
  if (config.NumberOr("dropout_rate", 0) != 0)
    return Unimplemented("custom-call ", target, " with dropout");
  if (config.NumberOr("max_seg_per_batch", 1) > 1)
    return Unimplemented("custom-call ", target, " of packed sequences");
  if (config.NumberOr("is_paged_attention", 0) != 0)
    return Unimplemented("custom-call ", target, " of pages");
  return absl::OkStatus();
}

absl::Status ReadSizes(absl::string_view target, absl::Span<const Shape* const> operands,
                       AttentionCall& call) {
  for (int o = 0; o < 3; ++o)
    if (!operands[o]->IsArray() || operands[o]->rank() != 4) return Misfit(target);
  const DimVector &q = operands[0]->dims, &k = operands[1]->dims, &v = operands[2]->dims;
  call.batch = q[0];
  call.heads = q[call.head_dim];
  call.kv_heads = k[call.head_dim];
  call.rows = q[call.row_dim()];
  call.keys = k[call.row_dim()];
  call.depth = q[3];
  call.value_depth = v[3];
  const bool fits = k[0] == call.batch && v[0] == call.batch && v[call.head_dim] == call.kv_heads &&
                    v[call.row_dim()] == call.keys && k[3] == call.depth && call.kv_heads > 0 &&
                    call.heads % call.kv_heads == 0;
  return fits ? absl::OkStatus() : Misfit(target);
}

// True where `operand` has these sizes; the bias may have 1 in place of the first two.
bool Has(const Shape& operand, std::initializer_list<int64_t> dims, bool spread = false) {
  if (!operand.IsArray() || operand.rank() != static_cast<int64_t>(dims.size())) return false;
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (operand.dims[d] != dims.begin()[d] && !(spread && d < 2 && operand.dims[d] == 1))
      return false;
  return true;
}

bool HasDims(const Shape& operand, const AttentionCall& call) {
  return call.head_dim == 2 ? Has(operand, {call.batch, call.rows, call.heads, call.value_depth})
                            : Has(operand, {call.batch, call.heads, call.rows, call.value_depth});
}

}  // namespace

bool IsAttentionTarget(absl::string_view target) {
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}

absl::StatusOr<AttentionCall> ReadAttentionCall(absl::string_view target, const ConfigValue& whole,
                                                absl::Span<const Shape* const> operands) {
  const ConfigValue* inner = whole.Find("cudnn_fmha_backend_config");
  const ConfigValue& config = inner != nullptr ? *inner : whole;
  AttentionCall call;
  bool padded = false;
  RETURN_IF_ERROR(ReadMask(target, config, call, padded));
  call.backward = absl::EndsWith(target, "Backward");
  call.scale = config.NumberOr("fmha_scale", 1);
  // The product of two arrays that come from outside.
  const ConfigValue* product = config.Find(call.backward ? "bmm2_grad_gemm2_dot_dimension_numbers"
                                                         : "bmm1_dot_dimension_numbers");
  if (product != nullptr)
    if (const auto dims = product->IntegersOf("lhs_batch_dimensions"); dims.size() == 2)
      call.head_dim = dims[1] == 1 ? 1 : 2;
  const bool biased = absl::StrContains(target, "Bias");
  const size_t count = 3 + (call.backward ? 3 : 0) + (biased ? 1 : 0) + (padded ? 2 : 0);
  if (operands.size() != count) return Misfit(target);
  RETURN_IF_ERROR(ReadSizes(target, operands, call));
  int next = 3;
  if (call.backward) {
    call.stats = next++;
    call.gradient = next++;
  }
  if (biased) call.bias = next++;
  if (call.backward) call.output = next++;
  if (padded) {
    call.row_counts = next++;
    call.key_counts = next++;
  }
  const auto fits = [&](int o, std::initializer_list<int64_t> dims, bool spread = false) {
    return o < 0 || Has(*operands[o], dims, spread);
  };
  if (!fits(call.bias, {call.batch, call.heads, call.rows, call.keys}, /*spread=*/true) ||
      !fits(call.row_counts, {call.batch}) || !fits(call.key_counts, {call.batch}) ||
      !fits(call.stats, {call.batch, call.heads, call.rows}) ||
      (call.backward &&
       (!HasDims(*operands[call.gradient], call) || !HasDims(*operands[call.output], call))))
    return Misfit(target);
  return call;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
