// Tuples, calls, loops, branches and custom calls.
#include "builder/control.h"

#include "builder/emit_internal.h"

namespace hlokit {

XlaOp Tuple(XlaBuilder* builder, OpSpan elements, Where where) {
  return EmitIn(builder, where, Opcode::kTuple, elements);
}

XlaOp GetTupleElement(XlaOp tuple, int64_t index, Where where) {
  return Emit(where, Opcode::kGetTupleElement, {tuple}, GetTupleElementAttrs{index});
}

XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, OpSpan operands, Where where) {
  return EmitIn(builder, where, Opcode::kCall, operands, CallAttrs(),
                {std::nullopt, {&computation}});
}

XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation, OpSpan operands,
                    const std::string& name, const std::optional<std::string>& attributes,
                    std::optional<int64_t> version, Where where) {
  if (builder == nullptr) return XlaOp();
  if (name.empty())
    return builder->ReportError(LabeledError("call-c10", "call: a composite has no name"), where);
  if (version && *version < 0)
    return builder->ReportError(
        LabeledError("call-c11", "call: composite version ", *version, " is negative"), where);
  const XlaOp call = EmitIn(builder, where, Opcode::kCall, operands, CallAttrs{true},
                            {std::nullopt, {&computation}});
  const auto set = [&](const char* key, const std::string& value) {
    if (!call.valid()) return;
    CHECK_OK(builder->SetInstructionFrontendAttribute(call, key, value));
  };
  set("composite.name", name);
  if (attributes) set("composite.attributes", *attributes);
  if (version) set("composite.version", absl::StrCat(*version));
  return call;
}

XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init, Where where) {
  return Emit(where, Opcode::kWhile, {init}, NoAttrs(), {std::nullopt, {&condition, &body}});
}

XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation,
                  XlaOp false_operand, const XlaComputation& false_computation, Where where) {
  return Emit(where, Opcode::kConditional, {predicate, true_operand, false_operand}, NoAttrs(),
              {std::nullopt, {&true_computation, &false_computation}});
}

XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branches,
                  OpSpan operands, Where where) {
  return EmitIn(branch_index.builder(), where, Opcode::kConditional,
                Joined({branch_index}, operands), NoAttrs(),
                {std::nullopt, {branches.begin(), branches.end()}});
}

XlaOp OptimizationBarrier(XlaOp operand, Where where) {
  return Emit(where, Opcode::kOptimizationBarrier, {operand});
}

XlaOp CustomCall(XlaBuilder* builder, const std::string& target, OpSpan operands,
                 const Shape& shape, CustomCallOptions options, Where where) {
  if (builder == nullptr) return XlaOp();
  const auto& layouts = options.operand_shapes_with_layout;
  if (layouts && layouts->size() != operands.size())
    return builder->ReportError(
        InvalidArgument("custom-call: ", layouts->size(), " shapes with layouts for ",
                        operands.size(), " operands"),
        where);
  CustomCallAttrs attributes;
  attributes.target = target;
  attributes.window = std::move(options.window);
  attributes.dim_labels = options.dimension_numbers;
  attributes.operand_layout_constraints = std::move(options.operand_shapes_with_layout);
  attributes.has_side_effect = options.has_side_effect;
  attributes.output_to_operand_aliasing = std::move(options.output_operand_aliasing);
  if (options.literal)
    attributes.literal = std::make_shared<const Literal>(*std::move(options.literal));
  attributes.schedule = options.schedule;
  attributes.api_version = options.api_version;
  EmitExtras extras{shape, {}};
  for (const XlaComputation& computation : options.called) extras.called.push_back(&computation);
  const XlaOp call = EmitIn(builder, where, Opcode::kCustomCall, operands, std::move(attributes),
                            std::move(extras));
  if (call.valid() && !options.opaque.empty())
    builder->Find(call)->mutable_extras().backend_config = options.opaque;
  return call;
}

XlaOp CustomCall(XlaBuilder* builder, const std::string& target, OpSpan operands,
                 const Shape& shape, const std::string& opaque, bool has_side_effect, Where where) {
  CustomCallOptions options;
  options.opaque = opaque;
  options.has_side_effect = has_side_effect;
  return CustomCall(builder, target, operands, shape, std::move(options), where);
}

XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& target, OpSpan operands,
                           const Shape& shape, const std::vector<Shape>& operand_shapes,
                           const std::string& opaque, Where where) {
  CustomCallOptions options;
  options.opaque = opaque;
  options.operand_shapes_with_layout = operand_shapes;
  return CustomCall(builder, target, operands, shape, std::move(options), where);
}

XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& target, OpSpan operands,
                                const XlaComputation& computation, const Shape& shape,
                                const std::string& opaque, Where where) {
  CustomCallOptions options;
  options.opaque = opaque;
  options.called = {computation};
  return CustomCall(builder, target, operands, shape, std::move(options), where);
}

XlaOp Trace(const std::string& tag, XlaOp operand, Where where) {
  CustomCall(operand.builder(), "hlokit.trace", {operand}, Shape::Tuple({}), tag, true, where);
  return operand;
}

XlaOp SelectTuple(XlaOp pred, XlaOp on_true, XlaOp on_false, const Shape& shape,
                  const Where& where) {
  XlaBuilder same("select_tuple");
  Parameter(&same, 0, shape, "chosen");
  const XlaComputation branch = same.BuildAndNoteError();
  return Conditional(pred, on_true, branch, on_false, branch, where);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
