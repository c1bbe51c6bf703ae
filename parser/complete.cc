// Fills in what an instruction's text may leave out, and brings attributes to the form that XLA
// keeps.
//
//   r = add(a, b)                          shape inferred: that of a
//   d = dot(a, b), operand_precision={default,default}      the default is not kept
// The rules are XLA's and each undoes a freedom of its text, so that text which means the same
// gives the same module: literals take plain layouts, asynchronous halves the shape of what is in
// flight. Inference may copy tuples: t1 = tuple(t0, t0), t2 = tuple(t1, t1), ... doubles a shape
// with each line. CountImpliedParts counts what is about to be copied and refuses before memory is
// gone.
#include <algorithm>
#include <numeric>

#include "ops/infer/op_table.h"
#include "ops/inferred_layout.h"
#include "parser/module_parser_internal.h"
#include "parser/normalize.h"
#include "parser/shardings_internal.h"

namespace hlokit {
namespace {

template <typename A>
void DropDefaultPrecision(A& attributes) {
  if constexpr (requires { attributes.operand_precision; }) {
    auto& precision = attributes.operand_precision;
    if (std::all_of(precision.begin(), precision.end(),
                    [](Precision p) { return p == Precision::kDefault; }))
      precision.clear();
  }
}

struct ShapeSize {
  int64_t parts = 1;
  int depth = 0;
};

ShapeSize SizeOf(const Shape& shape) {
  ShapeSize size;
  for (const Shape& element : shape.elements) {
    const ShapeSize part = SizeOf(element);
    size.parts += part.parts;
    size.depth = std::max(size.depth, part.depth + 1);
  }
  return size;
}

bool IsLiteralShape(const Shape& shape) {
  return shape.dynamic_mask == 0 && (!shape.has_layout || shape.layout.extras == nullptr) &&
         std::all_of(shape.elements.begin(), shape.elements.end(), IsLiteralShape);
}

// A literal's shape: its values lie one by one, and all of them are there.
void BecomeLiteralShape(Shape& shape) {
  for (Shape& element : shape.elements) BecomeLiteralShape(element);
  shape.dynamic_mask = 0;
  if (!shape.has_layout || shape.layout.extras == nullptr) return;
  LayoutExtras extras = *shape.layout.extras;
  extras.element_size_in_bits = 0;
  shape.layout.extras =
      extras == LayoutExtras() ? nullptr : std::make_shared<const LayoutExtras>(std::move(extras));
}

void SetShape(Instruction& i, const Shape& shape) {
  if (i.shape() != shape) i.set_shape(shape);
}

Shape InFlight(const Shape& data) {
  return Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()});
}

Shape WithToken(const Shape& data) { return Shape::Tuple({data, Shape::Token()}); }

}  // namespace

// Counts the tuples that inference is about to copy: a few lines could double them without end.
bool ModuleParser::CountImpliedParts(const Instruction& instruction, const char* at) {
  if (instruction.opcode() == Opcode::kGetTupleElement) return true;  // what it gives was counted
  const bool makes_tuple = instruction.opcode() == Opcode::kTuple;
  int depth = 0;
  auto count = [&](const Shape& shape) {
    if (!makes_tuple && !shape.IsTuple()) return;
    const ShapeSize size = SizeOf(shape);
    implied_parts_ += size.parts;
    depth = std::max(depth, size.depth + makes_tuple);
  };
  for (const Instruction* operand : instruction.operands()) count(operand->shape());
  for (const Computation* called : instruction.called()) count(called->root()->shape());
  if (depth >= kMaxNesting)
    return reader_.Error(at, "the tuple is nested more than ", kMaxNesting, " levels deep");
  return implied_parts_ <= kMaxImpliedParts ||
         reader_.Error(at,
                       "the tuples up to here whose shapes the text does not state have more than ",
                       kMaxImpliedParts, " parts");
}

bool ModuleParser::InferMissingShape(Instruction& instruction, const char* at) {
  if (!CountImpliedParts(instruction, at)) return false;
  absl::InlinedVector<const Shape*, 8> shapes;
  for (const Instruction* operand : instruction.operands()) shapes.push_back(&operand->shape());
  const OpView view(instruction.opcode(), shapes, instruction.attributes(), instruction.called(),
                    nullptr);
  absl::StatusOr<Shape> shape = InferShape(view);
  if (!shape.ok()) {
    diagnostics().Error(reader_.PlaceAt(at), shape.status());
    return false;
  }
  instruction.set_shape(WithInferredLayout(*shape, instruction.opcode(), shapes,
                                           instruction.attributes(), instruction.called()));
  return true;
}

ComparisonType OwnOrder(ElementType type) {
  if (IsFloat(type) || IsComplex(type)) return ComparisonType::kFloat;
  return IsSigned(type) ? ComparisonType::kSigned : ComparisonType::kUnsigned;
}

void SettleShape(Instruction& i) {
  const bool feeds = i.shape().IsTuple() && !i.shape().elements.empty();
  switch (i.opcode()) {
    case Opcode::kSend:
      return SetShape(i, InFlight(i.operand(0)->shape()));
    case Opcode::kRecv:
      return feeds ? SetShape(i, InFlight(i.shape().elements[0])) : void();
    case Opcode::kInfeed:
      return feeds ? SetShape(i, WithToken(i.shape().elements[0])) : void();
    case Opcode::kRecvDone: {
      const Shape& start = i.operand(0)->shape();
      const bool fits = start.IsTuple() && !start.elements.empty();
      return fits ? SetShape(i, WithToken(start.elements[0])) : void();
    }
    case Opcode::kSendDone:
    case Opcode::kOutfeed:
    case Opcode::kAfterAll:
      return SetShape(i, Shape::Token());
    case Opcode::kAddDependency:
      return i.set_shape(i.operand(0)->shared_shape());
    default:
      return;
  }
}

// As XLA makes it: an element of what a tuple in the same computation puts together has the origin
// of that operand.
void TakeOriginOfElement(Instruction& element) {
  const Instruction& tuple = *element.operand(0);
  const int64_t index = element.attr<GetTupleElementAttrs>().index;
  if (tuple.opcode() != Opcode::kTuple || index < 0 || index >= tuple.operand_count()) return;
  const Instruction& from = *tuple.operand(index);
  if (!from.HasExtras() || from.extras().origin.empty()) return;
  if (element.HasExtras() && !element.extras().origin.empty()) return;
  element.mutable_extras().origin = from.extras().origin;
}

void Normalize(Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kCompare: {
      auto& attributes = i.mutable_attr<CompareAttrs>();
      if (attributes.type == OwnOrder(i.operand(0)->shape().type))
        attributes.type = ComparisonType::kDefault;
      break;
    }
    case Opcode::kConstant:
      if (!IsLiteralShape(i.shape())) BecomeLiteralShape(i.mutable_shape());
      break;
    case Opcode::kMap: {  // all of them, whatever the text says
      DimVector& dimensions = i.mutable_attr<MapAttrs>().dimensions;
      dimensions.resize(i.shape().rank());
      std::iota(dimensions.begin(), dimensions.end(), 0);
      break;
    }
    case Opcode::kDot:
    case Opcode::kScaledDot:
      DropDefaultPrecision(i.mutable_attr<DotAttrs>());
      break;
    case Opcode::kRaggedDot:
      DropDefaultPrecision(i.mutable_attr<RaggedDotAttrs>());
      break;
    case Opcode::kConvolution:
      DropDefaultPrecision(i.mutable_attr<ConvolutionAttrs>());
      break;
    case Opcode::kCustomCall:
      DropDefaultPrecision(i.mutable_attr<CustomCallAttrs>());
      break;
    case Opcode::kOutfeed: {
      auto& attributes = i.mutable_attr<OutfeedAttrs>();
      if (!attributes.outfeed_shape) attributes.outfeed_shape = i.operand(0)->shape();
      break;
    }
    case Opcode::kScan: {
      auto& attributes = i.mutable_attr<ScanAttrs>();
      if (!attributes.is_associative) attributes.is_associative = false;
      break;
    }
    case Opcode::kGetTupleElement:
      TakeOriginOfElement(i);
      break;
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:  // both go by the start
      i.set_called({});
      i.mutable_attr<AsyncAttrs>() = {};
      break;
    case Opcode::kAsyncStart:
      if (i.attr<AsyncAttrs>().async_execution_thread == "main")
        i.mutable_attr<AsyncAttrs>().async_execution_thread.clear();
      break;
    default:
      break;
  }
  if (i.sharding() != nullptr) SpreadOverTuple(i.shape(), *i.mutable_extras().sharding);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
