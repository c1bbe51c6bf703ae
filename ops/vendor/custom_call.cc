// Evaluates the custom calls that have a known meaning.
#include <algorithm>
#include <array>
#include <cstdio>

#include "absl/strings/match.h"
#include "ffi/registry.h"
#include "ops/collective/manual_region.h"
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/linalg.h"
#include "ops/evaluate/topk.h"
#include "ops/vendor/checks.h"
#include "ops/vendor/foreign.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// Markers: the operand, unchanged.
constexpr absl::string_view kMarkers[] = {"Sharding",
                                          "LayoutConstraint",
                                          "MoveToHost",
                                          "MoveToDevice",
                                          "PinToDevice",
                                          "PinToDeviceSram",
                                          "annotate_device_placement",
                                          "AsyncCollectiveStart",
                                          "AsyncCollectiveDone",
                                          "ShardBarrierFrom",
                                          "ShardBarrierTo",
                                          "__xla_internal_call_marker_after",
                                          "xla.sdy.FuncResultSharding",
                                          "xla.sdy.PropagationBarrier"};

absl::StatusOr<Literal> Marker(const EvalContext& context, absl::string_view target) {
  if (context.operands.empty()) return InvalidArgument("custom-call ", target, ": no operand");
  const Shape& shape = context.instruction.shape();
  if (!Compatible(context.operands[0]->shape(), shape))
    return InvalidArgument("custom-call ", target, " from ", Text(context.operands[0]->shape()),
                           " to ", Text(shape));
  return *context.operands[0];
}

absl::StatusOr<Literal> TupleOfOperands(const EvalContext& context) {
  std::vector<Literal> parts;
  for (const Literal* operand : context.operands) parts.push_back(*operand);
  Literal tuple = Literal::Tuple(std::move(parts));
  if (!Compatible(tuple.shape(), context.instruction.shape()))
    return InvalidArgument("custom-call __xla_internal_call_marker_before gives ",
                           Text(context.instruction.shape()), " from operands ",
                           Text(tuple.shape()));
  return tuple;
}

absl::StatusOr<Literal> CustomTopK(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands.size() != 1 || !shape.IsTuple() || shape.elements.size() != 2 ||
      shape.elements[0].rank() == 0 ||
      shape.elements[0].rank() != context.operands[0]->shape().rank())
    return InvalidArgument("custom-call TopK: gives ", Text(shape));
  const int64_t k = shape.elements[0].dims.back();
  if (k > context.operands[0]->shape().dims.back())
    return InvalidArgument("custom-call TopK: k = ", k);
  return TopK(*context.operands[0], k, /*largest=*/true, shape);
}

// Calls that nothing in the module gives a meaning, and why. A row names a target or what it begins
// with.
constexpr struct {
  absl::string_view target, why;
} kWithoutMeaning[] = {
    {"tpu_custom_call", "carries a kernel compiled for TPUs"},
    {"mosaic_gpu", "carries a kernel for GPUs as code (Pallas, Mosaic)"},
    {"triton_kernel_call", "carries a Triton kernel for GPUs as code"},
    {"__gpu$xla.gpu.triton", "carries a Triton kernel for GPUs as code"},
    {"__cudnn$convReorderFilter",
     "gives weights in an order that only cuDNN's int8x32 kernels read"},
    {"__cudnn$fmha", "is attention of 8-bit floats, whose scales are cuDNN's own"},
    {"xla_ffi_python_", "calls back into the Python process that made the module"},
    {"xla_ffi_partitioned_python_", "calls back into the Python process that made the module"},
    {"xla_python_", "calls back into the Python process that made the module"},
};

absl::Status UnknownTarget(absl::string_view target) {
  for (const auto& row : kWithoutMeaning)
    if (absl::StartsWith(target, row.target))
      return Unimplemented("custom-call target \"", target, "\" ", row.why,
                           ": it cannot run here; hlo-run --load=LIBRARY.so puts a function in its "
                           "place");
  return NotFound("custom-call target \"", target,
                  "\" is not known here; hlo-run --load=LIBRARY.so adds one's own");
}

// The builder's Trace: tag and value on standard error, in one piece.
absl::StatusOr<Literal> LogOperand(const EvalContext& context) {
  LiteralTextOptions options;
  options.with_shape = true;
  options.with_layout = false;
  std::string line = absl::StrCat("hlokit.trace ", context.instruction.backend_config(), ":");
  for (const Literal* operand : context.operands) {
    line += ' ';
    AppendText(line, *operand, options);
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return Literal(context.instruction.shape());
}

}  // namespace

absl::StatusOr<Literal> EvaluateCustomCall(const EvalContext& context) {
  const absl::string_view target = context.instruction.attr<CustomCallAttrs>().target;
  if (std::find(std::begin(kMarkers), std::end(kMarkers), target) != std::end(kMarkers))
    return Marker(context, target);
  if (target == "HostExecute" && context.instruction.called().size() == 1)
    return context.call(*context.instruction.to_apply(), context.operands);
  if (target == "__xla_internal_call_marker_before") return TupleOfOperands(context);
  if (target == "AllocateBuffer") return Literal(context.instruction.shape());
  if (target == "NopReturnToken") return Literal::Token();
  if (target == "xla.sdy.ShardingGroup") return Literal::Tuple({});
  if (target == "hlokit.trace") return LogOperand(context);
  if (EntersManualRegion(target)) return EnterManualRegion(context);
  if (LeavesManualRegion(target)) return LeaveManualRegion(context);
  if (IsCheckTarget(target)) return EvaluateCheck(context);
  if (IsTopKTarget(target)) return CustomTopK(context);
  if (IsLapackTarget(target)) return EvaluateLapack(context);
  if (VendorCall call = FindVendorCall(target)) return call(context);
  if (hlokit_ffi_function function = FindCustomCall(target)) return CallForeign(context, function);
  if (PlainCustomCall function = FindCustomCallSymbol(target)) return CallPlain(context, function);
  return UnknownTarget(target);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
