// Tuples, and operations that run whole computations: calls, loops, branches, custom calls.
//
// Errors are InvalidArgument with the label of the rule (docs/operations.md), kept in the builder.
// Source: XLA Operation Semantics.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "builder/xla_computation.h"
#include "builder/xla_op.h"
#include "ir/attribute_types.h"

namespace hlokit {

// The elements in order; none: the empty tuple.
XlaOp Tuple(XlaBuilder* builder, OpSpan elements, Where where = Where::current());
XlaOp GetTupleElement(XlaOp tuple, int64_t index, Where where = Where::current());

// computation(operands...).
XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, OpSpan operands,
           Where where = Where::current());
// The same, marked as an operation of a library that the computation defines. `attributes` is text
// of a dictionary, {..}; no version: none is stated (it counts as 0). Errors: call-c10, call-c11.
XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation, OpSpan operands,
                    const std::string& name,
                    const std::optional<std::string>& attributes = std::nullopt,
                    std::optional<int64_t> version = std::nullopt, Where where = Where::current());

// body(body(... init)) while condition(value) is true; all of one shape.
XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init,
            Where where = Where::current());

// One of two by a pred scalar; only that one runs.
XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation,
                  XlaOp false_operand, const XlaComputation& false_computation,
                  Where where = Where::current());
// One of N by an s32 scalar; out of range: the last.
XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branches,
                  OpSpan operands, Where where = Where::current());

// Nothing that operands need moves past it, or is merged with what comes after.
XlaOp OptimizationBarrier(XlaOp operand, Where where = Where::current());

// What custom calls may say besides target, operands and shape.
struct CustomCallOptions {
  std::string opaque;                                     // backend_config
  bool has_side_effect = false;                           // never dropped or merged
  std::vector<OutputAlias> output_operand_aliasing = {};  // results in operands' memory
  std::optional<Literal> literal = std::nullopt;  // kept by XLA's builder, without a meaning
  CustomCallSchedule schedule = CustomCallSchedule::kNone;  // as early or as late as can be
  CustomCallApiVersion api_version = CustomCallApiVersion::kOriginal;  // how the target is called
  // operand_layout_constraints: the layouts in which operands come.
  std::optional<std::vector<Shape>> operand_shapes_with_layout = std::nullopt;
  std::vector<XlaComputation> called = {};  // called_computations
  // Of a convolution that a library does.
  Window window = {};
  std::optional<ConvDims> dimension_numbers = std::nullopt;
};
// The function `target` of this program (RegisterCustomCall of ffi/registry.h) or of a library
// (LoadCustomCalls there), or one that hlokit knows.
XlaOp CustomCall(XlaBuilder* builder, const std::string& target, OpSpan operands,
                 const Shape& shape, const std::string& opaque = "", bool has_side_effect = false,
                 Where where = Where::current());
XlaOp CustomCall(XlaBuilder* builder, const std::string& target, OpSpan operands,
                 const Shape& shape, CustomCallOptions options, Where where = Where::current());
// With layouts for the operands, one shape each.
XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& target, OpSpan operands,
                           const Shape& shape, const std::vector<Shape>& operand_shapes,
                           const std::string& opaque = "", Where where = Where::current());
// With a computation that the library may run.
XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& target, OpSpan operands,
                                const XlaComputation& computation, const Shape& shape,
                                const std::string& opaque = "", Where where = Where::current());

// Logs the operand under `tag` whenever the program runs, as a custom call "hlokit.trace" with an
// effect, which nothing removes; gives the operand's own handle. Source: the oldest builder.
XlaOp Trace(const std::string& tag, XlaOp operand, Where where = Where::current());

// Select on tuples: a conditional whose branches hand their operand on.
XlaOp SelectTuple(XlaOp pred, XlaOp on_true, XlaOp on_false, const Shape& shape,
                  const Where& where);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
