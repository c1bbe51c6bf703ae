// Instructions without operands.
#include "builder/constants.h"

#include <algorithm>
#include <limits>

#include "builder/broadcast_internal.h"
#include "builder/emit_internal.h"
#include "support/status.h"
#include "support/within_memory.h"
#include "types/number_literal.h"

namespace hlokit {

XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name,
                const std::vector<bool>& replicated, Where where) {
  if (builder == nullptr) return XlaOp();
  return builder->ReportErrorOrReturn(builder->AddParameter(number, shape, name, replicated),
                                      where);
}

XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal, Where where) {
  if (builder == nullptr) return XlaOp();
  if (!literal.shape().IsTuple()) {
    const auto made = WithinMemory("a constant", [&]() -> absl::StatusOr<XlaOp> {
      return EmitIn(builder, where, Opcode::kConstant, {},
                    ConstantAttrs{std::make_shared<const Literal>(literal)}, {literal.shape()});
    });
    return builder->ReportErrorOrReturn(made, where);
  }
  std::vector<XlaOp> parts;
  for (const Literal& element : literal.elements())
    parts.push_back(ConstantLiteral(builder, element, where));
  return EmitIn(builder, where, Opcode::kTuple, parts);
}

namespace {

// The largest finite value of a float type: the last that reads back when halved from far above.
double LargestFinite(ElementType type) {
  Literal probe(Shape::Scalar(type));
  double best = 0;
  const int64_t patterns = int64_t{1} << std::min(BitWidth(type), 16);
  if (BitWidth(type) > 16)
    return type == ElementType::kF32 ? std::numeric_limits<float>::max()
                                     : std::numeric_limits<double>::max();
  for (int64_t bits = 0; bits < patterns; ++bits) {
    if (BitWidth(type) == 16) {
      *probe.as<uint16_t>() = static_cast<uint16_t>(bits);
    } else {
      *probe.data() = static_cast<uint8_t>(bits);
    }
    const double value = probe.GetDouble(0);
    if (value > best && value < std::numeric_limits<double>::infinity()) best = value;
  }
  return best;
}

// Infinity where the type has one, else its largest value.
double FloatBound(ElementType type) {
  Literal probe(Shape::Scalar(type));
  const double infinity = std::numeric_limits<double>::infinity();
  probe.SetDouble(0, infinity);
  return probe.GetDouble(0) == infinity ? infinity : LargestFinite(type);
}

}  // namespace

Literal MinValueLiteral(ElementType type) {
  if (IsFloat(type)) return NumberLiteral(type, -FloatBound(type));
  Literal literal(Shape::Scalar(type));
  if (IsSigned(type)) literal.SetInt(0, -(int64_t{1} << (BitWidth(type) - 2)) * 2);
  return literal;
}

Literal MaxValueLiteral(ElementType type) {
  if (IsFloat(type)) return NumberLiteral(type, FloatBound(type));
  Literal literal(Shape::Scalar(type));
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  literal.SetInt(0, IsPred(type) ? 1 : static_cast<int64_t>(~uint64_t{0} >> (64 - bits)));
  return literal;
}

namespace {

// A scalar of `type` as `make` has it; an error for what is no type of arrays, or has no order
// where `bound` says that it must.
template <typename Make>
XlaOp ScalarOf(XlaBuilder* builder, ElementType type, bool bound, const Where& where, Make make) {
  if (builder == nullptr) return XlaOp();
  if (!IsArrayType(type) || (bound && IsComplex(type)))
    return builder->ReportError(
        InvalidArgument("constant: there is no ", bound ? "lowest or highest value" : "number",
                        " of type ", Text(type)),
        where);
  return ConstantLiteral(builder, make(type), where);
}

}  // namespace

XlaOp ScalarLike(XlaBuilder* builder, ElementType type, double value, Where where) {
  return ScalarOf(builder, type, false, where,
                  [value](ElementType t) { return NumberLiteral(t, value); });
}
XlaOp MinValue(XlaBuilder* builder, ElementType type, Where where) {
  return ScalarOf(builder, type, true, where, MinValueLiteral);
}
XlaOp MaxValue(XlaBuilder* builder, ElementType type, Where where) {
  return ScalarOf(builder, type, true, where, MaxValueLiteral);
}
XlaOp Zero(XlaBuilder* builder, ElementType type, Where where) {
  return ScalarLike(builder, type, 0, where);
}
XlaOp One(XlaBuilder* builder, ElementType type, Where where) {
  return ScalarLike(builder, type, 1, where);
}

XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension, Where where) {
  return EmitIn(builder, where, Opcode::kIota, {}, IotaAttrs{iota_dimension}, {shape});
}
XlaOp Iota(XlaBuilder* builder, ElementType type, int64_t size, Where where) {
  return Iota(builder, Shape::Array(type, {size}), 0, where);
}

XlaOp RepeatedConstant(XlaBuilder* builder, int64_t length, const Literal& value,
                       const Where& where) {
  if (length < 0 && builder != nullptr)
    return builder->ReportError(
        LabeledError("broadcast-c2", "broadcast: size ", length, " is negative"), where);
  return EmitBroadcast(where, ConstantLiteral(builder, value, where),
                       Shape::Array(value.shape().type, {length}), {});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
