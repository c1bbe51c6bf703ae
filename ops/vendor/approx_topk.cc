// ApproxTopK and PartialReduce: the best elements along a dimension, by a comparator. A recall
// below 1 is allowed to miss some; here none is missed.
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/movement.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

// A sort of the first half of the operands; the other half are what pads them where the work is
// split.
absl::StatusOr<Literal> SortOperands(const EvalContext& context, int64_t dimension) {
  const size_t count = context.operands.size() / 2;
  std::vector<const Shape*> operands;
  std::vector<Shape> results;
  for (const Literal* operand : context.operands.subspan(0, count)) {
    operands.push_back(&operand->shape());
    results.push_back(operand->shape());
  }
  Instruction sort(Opcode::kSort, Shape::Tuple(std::move(results)), {});
  sort.set_called({context.instruction.to_apply()});
  sort.mutable_attr<SortAttrs>() = {{dimension}, /*is_stable=*/true};
  RETURN_IF_ERROR(
      InferShape(OpView(Opcode::kSort, operands, sort.attributes(), sort.called(), nullptr))
          .status());
  return EvaluateSort({sort, context.operands.subspan(0, count), context.call, 0, 0, nullptr});
}

// The operands' dimensions, but along `dimension`, where there are at most as many.
bool IsPartOf(const Shape& part, const Shape& whole, int64_t dimension) {
  if (!part.IsArray() || part.type != whole.type || part.rank() != whole.rank()) return false;
  for (int d = 0; d < whole.rank(); ++d)
    if (d == dimension ? part.dims[d] > whole.dims[d] : part.dims[d] != whole.dims[d]) return false;
  return true;
}

}  // namespace

absl::StatusOr<Literal> ApproxTopK(const EvalContext& context) {
  const Instruction& call = context.instruction;
  const absl::string_view target = call.attr<CustomCallAttrs>().target;
  const size_t count = context.operands.size() / 2;
  const Shape& shape = call.shape();
  const size_t results = shape.IsTuple() ? shape.elements.size() : 1;
  if (count == 0 || context.operands.size() != 2 * count || results != count ||
      call.called().size() != 1)
    return InvalidArgument("custom-call ", target,
                           " takes arrays, as many initial values and a comparator, and gives ",
                           "as many arrays; found ", Text(shape));
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(call.backend_config()));
  const auto dimension = static_cast<int64_t>(config.NumberOr("reduction_dim", -1));
  if (dimension < 0 || dimension >= context.operands[0]->shape().rank())
    return InvalidArgument("custom-call ", target, ": reduction_dim=", dimension, " of ",
                           Text(context.operands[0]->shape()));
  ASSIGN_OR_RETURN(Literal sorted, SortOperands(context, dimension));
  std::vector<Literal> best;
  for (size_t i = 0; i < count; ++i) {
    const Shape& part = shape.IsTuple() ? shape.elements[i] : shape;
    const Literal& whole = sorted.shape().IsTuple() ? sorted.elements()[i] : sorted;
    if (!IsPartOf(part, whole.shape(), dimension))
      return InvalidArgument("custom-call ", target, " gives ", Text(part), " of ",
                             Text(whole.shape()));
    best.push_back(SliceBox(whole, DimVector(part.rank(), 0), part.dims));
  }
  return VendorResult(context, std::move(best));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
