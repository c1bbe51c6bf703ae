// The table of vendors' targets, and the walk that replaces their calls.
//
//   custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={"alpha_real": 2, ...}
//   ->  multiply(dot(convert(a), convert(b)), 2), converted to the result's type
// A row names a target and the function that writes what the call computes. The function returns
// the parts of the result, or nothing where it does not know the configuration; such a call stays
// and is left to the evaluator, which names what it cannot do. Missing parts of a tuple are
// workspaces, which nobody reads: zeros.
// Calls with dynamic dimensions or operands that are tuples stay too.
// Cost: linear in the instructions; the table is searched once for each custom call.
#include "passes/vendor/vendor_call_expander.h"

#include <algorithm>

#include "ops/collective/shards.h"
#include "ops/vendor/attention_call.h"
#include "ops/vendor/lapack_legacy.h"
#include "ops/vendor/solver_calls.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/rewriter.h"
#include "passes/vendor/vendor_calls_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Calls that only mark their operand for a compiler.
VendorCall::Parts ExpandMarker(VendorCall& call) { return {call.operand(0)}; }
VendorCall::Parts ExpandOperands(VendorCall& call) {
  VendorCall::Parts parts;
  for (int64_t k = 0; k < call.operand_count(); ++k) parts.push_back(call.operand(k));
  return parts;
}

constexpr struct {
  absl::string_view target;
  VendorCall::Parts (*expand)(VendorCall&);
} kTargets[] = {
    {"AsyncCollectiveDone", ExpandMarker},
    {"AsyncCollectiveStart", ExpandMarker},
    {"LayoutConstraint", ExpandMarker},
    {"LuDecomposition", ExpandLuDecomposition},
    {"MoveToDevice", ExpandMarker},
    {"MoveToHost", ExpandMarker},
    {"ShardBarrierFrom", ExpandMarker},
    {"ShardBarrierTo", ExpandMarker},
    {"Sharding", ExpandMarker},
    {"__cub$DeviceRadixSort", ExpandCubSort},
    {"__cub$DeviceRadixSortUnassignedScratchSize", ExpandCubSort},
    {"__cublas$gemm", ExpandGemm},
    {"__cublas$lt$groupedMatmul", ExpandGroupedMatmul},
    {"__cublas$lt$matmul", ExpandGemm},
    {"__cublas$lt$matmul$f8", ExpandF8Matmul},
    {"__cublas$lt$matmul$mx", ExpandMxMatmul},
    {"__cublas$triangularSolve", ExpandTriangularSolve},
    {"__cudnn$blockScaledDot", ExpandBlockScaledDot},
    {"__cudnn$convBackwardFilter", ExpandConvolution},
    {"__cudnn$convBackwardInput", ExpandConvolution},
    {"__cudnn$convBiasActivationForward", ExpandConvolution},
    {"__cudnn$convForward", ExpandConvolution},
    {"__cudnn$convForwardGraph", ExpandConvolution},
    {"__cudnn$norm", ExpandCudnnNorm},
    {"__onednn$layernorm", ExpandLayerNorm},
    {"__onednn$matmul", ExpandOnednnMatmul},
    {"__onednn$softmax", ExpandSoftmax},
    {"__op$block_scaled_dot", ExpandBlockScaledDot},
    {"__op$dequantize", ExpandDequantize},
    {"__op$quantize", ExpandQuantize},
    {"annotate_device_placement", ExpandMarker},
    {"__xla_internal_call_marker_after", ExpandMarker},
    {"__xla_internal_call_marker_before", ExpandOperands},
    {"cu_threefry2x32", ExpandThreefry},
    {"cu_threefry2x32_ffi", ExpandThreefry},
    {"cuda_threefry2x32", ExpandThreefry},
    {"hip_threefry2x32_ffi", ExpandThreefry},
    {"xla.gpu.ext.cub_scan_unassigned_scratch_size", ExpandCubScan},
    {"xla.gpu.ext.cub_sort_keys", ExpandCubSort},
    {"xla.gpu.ext.cub_sort_pairs", ExpandCubSort},
    {"xla.gpu.ext.cub_sort_unassigned_scratch_size", ExpandCubSort},
    {"xla.sdy.FuncResultSharding", ExpandMarker},
    {"xla.sdy.PropagationBarrier", ExpandMarker},
};

VendorCall::Parts (*FindExpansion(absl::string_view target))(VendorCall&) {
  for (const auto& row : kTargets)
    if (row.target == target) return row.expand;
  if (IsAttentionTarget(target)) return ExpandAttention;
  if (!SolverRoutine(target).empty()) return ExpandCusolver;
  return IsLegacyLapackTarget(target) ? ExpandLegacyLapack : nullptr;
}

bool HasPlainArrays(const Instruction* call) {
  for (const Instruction* operand : call->operands())
    if (!operand->shape().IsArray() || operand->shape().HasDynamicDims()) return false;
  for (const ShapeLeaf& leaf : Leaves(call->shape()))
    if (!leaf.shape->IsArray() || leaf.shape->HasDynamicDims()) return false;
  return call->operand_count() > 0 && !Leaves(call->shape()).empty();
}

// The whole result, zeros for workspaces.
Instruction* Whole(Instruction* call, std::vector<Instruction*> parts, Rewriter& r) {
  if (!call->shape().IsTuple()) return parts[0];
  for (size_t k = parts.size(); k < call->shape().elements.size(); ++k)
    parts.push_back(r.Splat(call->shape().elements[k], 0));
  return r.Add(Opcode::kTuple, call->shape(), parts);
}

absl::StatusOr<bool> Run(Computation& computation, RewriteControl& control) {
  bool changed = false;
  Rewriter rewriter(computation);
  for (Instruction* i : computation.Instructions()) {
    if (i->opcode() != Opcode::kCustomCall || SaysHowToCut(*i)) continue;
    rewriter.set_subject(i);
    std::vector<Instruction*> parts = ExpandVendorCall(i, rewriter);
    Instruction* made = parts.empty() ? nullptr : Whole(i, std::move(parts), rewriter);
    const std::vector<Instruction*> all = rewriter.TakeMade();
    if (made == nullptr || !control.Permit("vendor-call-expander", *i, *made)) {
      for (size_t k = all.size(); k-- > 0;) computation.Remove(all[k]);
      continue;
    }
    i->ReplaceAllUsesWith(made);
    PassOnControlEdges(i, made, std::find(all.begin(), all.end(), made) != all.end());
    computation.Remove(i);
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<Instruction*> ExpandVendorCall(Instruction* call, Rewriter& rewriter) {
  const auto expand = FindExpansion(call->attr<CustomCallAttrs>().target);
  if (expand == nullptr || !HasPlainArrays(call)) return {};
  absl::StatusOr<ConfigValue> config = ParseCallConfig(call->backend_config());
  if (!config.ok()) return {};
  VendorCall vendor(call, *std::move(config), rewriter);
  std::vector<Instruction*> parts = expand(vendor);
  if (parts.size() > vendor.result_count()) return {};
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts[k] == nullptr || parts[k]->shape().dims != vendor.result(k).dims) return {};
    parts[k] = vendor.As(parts[k], vendor.result(k));
  }
  return parts;
}

std::unique_ptr<Pass> CreateVendorCallExpander() {
  return MakeComputationPass("vendor-call-expander", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
