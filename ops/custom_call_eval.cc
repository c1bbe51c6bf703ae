// Evaluates the custom calls that have a known meaning.
#include <algorithm>
#include <array>

#include "ops/eval_linalg.h"
#include "ops/eval_topk.h"
#include "ops/evaluate.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Markers: the operand, unchanged.
constexpr absl::string_view kMarkers[] = {"Sharding",
                                          "SPMDFullToShardShape",
                                          "SPMDShardToFullShape",
                                          "LayoutConstraint",
                                          "MoveToHost",
                                          "MoveToDevice",
                                          "annotate_device_placement",
                                          "xla.sdy.FuncResultSharding",
                                          "xla.sdy.GlobalToLocalShape",
                                          "xla.sdy.LocalToGlobalShape",
                                          "xla.sdy.PropagationBarrier"};

absl::StatusOr<Literal> Marker(const EvalContext& context, absl::string_view target) {
  if (context.operands.empty()) return InvalidArgument("custom-call ", target, ": no operand");
  const Shape& shape = context.instruction.shape();
  if (!Compatible(context.operands[0]->shape(), shape))
    return Unimplemented("custom-call ", target, " from ", Text(context.operands[0]->shape()),
                         " to ", Text(shape), ": run the module after partitioning");
  return *context.operands[0];
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

}  // namespace

absl::StatusOr<Literal> EvaluateCustomCall(const EvalContext& context) {
  const absl::string_view target = context.instruction.attr<CustomCallAttrs>().target;
  if (std::find(std::begin(kMarkers), std::end(kMarkers), target) != std::end(kMarkers))
    return Marker(context, target);
  if (target == "TopK" || target == "mhlo.topk") return CustomTopK(context);
  if (IsLapackTarget(target)) return EvaluateLapack(context);
  return Unimplemented("custom-call target ", target);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
