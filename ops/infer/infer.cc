// Helpers that inference functions share: merged dimensions, reducers' signatures, and the element
// type of sums of products.
//   MergeDims(f32[2,<=3], f32[2,3])   ->   the size that is known, dynamic where either is
// Each error carries the label of the rule in ops/rules.def.
#include "ops/infer/infer.h"

#include <tuple>

#include "ops/broadcastable.h"
#include "ops/infer/infer_internal.h"
#include "types/float_convert.h"

namespace hlokit {

// XLA lets reducers and initial values mix float types.
bool SameTypeOrFloats(ElementType a, ElementType b) { return a == b || (IsFloat(a) && IsFloat(b)); }

absl::Status ExpectArray(const OpView& op, int64_t i) {
  if (op.operand(i).IsArray()) return absl::OkStatus();
  return Fail(op, 1, "operand ", i, " is not an array: ", Text(op.operand(i)));
}

absl::Status ExpectArrays(const OpView& op) {
  for (int64_t i = 0; i < op.operand_count(); ++i) RETURN_IF_ERROR(ExpectArray(op, i));
  return absl::OkStatus();
}

absl::Status ExpectIntegerScalar(const OpView& op, int64_t i, int rule) {
  const Shape& shape = op.operand(i);
  if (shape.IsScalar() && IsInteger(shape.type)) return absl::OkStatus();
  return Fail(op, rule, "operand ", i, " is not an integer scalar: ", Text(shape));
}

absl::Status ExpectToken(const OpView& op, int64_t i) {
  if (op.operand(i).IsToken()) return absl::OkStatus();
  return Fail(op, 1, "operand ", i, " is not a token: ", Text(op.operand(i)));
}

absl::StatusOr<Shape> ExpectDeclared(const OpView& op) {
  if (op.declared() == nullptr)
    return Fail(op, 0, "its shape does not follow from the operands and must be stated");
  return op.declared()->WithoutLayout();
}

absl::StatusOr<Shape> ExpectDeclaredArray(const OpView& op, int rule) {
  ASSIGN_OR_RETURN(Shape declared, ExpectDeclared(op));
  if (!declared.IsArray())
    return Fail(op, rule, "expects an array as result, found ", Text(declared));
  return declared;
}

absl::StatusOr<Shape> ExpectReshaped(const OpView& op) {
  ASSIGN_OR_RETURN(Shape result, ExpectDeclaredArray(op, 2));
  const Shape& operand = op.operand(0);
  if (result.type != operand.type)
    return Fail(op, 2, "operand and result differ in type: ", Text(operand), " and ", Text(result));
  if (!result.HasUnboundedDims() && !operand.HasUnboundedDims() &&
      result.ElementCount() != operand.ElementCount())
    return Fail(op, 3, "operand and result differ in element count: ", Text(operand), " and ",
                Text(result));
  return result;
}

absl::StatusOr<int> ExpectOneDimension(const OpView& op, absl::Span<const int64_t> dimensions,
                                       int64_t rank, int rule) {
  if (dimensions.size() != 1)
    return Fail(op, rule, "expects one dimension, found ", ListText(dimensions));
  if (dimensions[0] < 0 || dimensions[0] >= rank)
    return Fail(op, rule, "dimension ", dimensions[0], " is not in [0, ", rank, ")");
  return static_cast<int>(dimensions[0]);
}

// The common dimensions of two operands; dynamic where the dimension that was taken is.
absl::StatusOr<Shape> MergeDims(const OpView& op, const Shape& a, const Shape& b, int rule) {
  if (!SameDims(a, b))
    return Fail(op, rule, "operands differ in dimensions: ", Text(a), " and ", Text(b));
  Shape merged = a.WithoutLayout();
  for (int d = 0; d < a.rank(); ++d) {
    ASSIGN_OR_RETURN(merged.dims[d], InferBroadcastDim(a.dims[d], b.dims[d]));
    merged.SetDynamic(d, (merged.dims[d] == a.dims[d] && a.IsDynamic(d)) ||
                             (merged.dims[d] == b.dims[d] && b.IsDynamic(d)));
  }
  return merged;
}

// Parameter and result shapes of the i-th called computation; an error where there is none.
absl::StatusOr<Signature> SignatureOf(const OpView& op, size_t i) {
  if (i >= op.called().size() || op.called()[i] == nullptr)
    return op.Error("module-c6", "expects a called computation, found none");
  const Computation& computation = *op.called()[i];
  Signature signature{&computation, {}, nullptr};
  for (const Instruction* parameter : computation.parameters()) {
    if (parameter == nullptr)
      return op.Error("module-c6", "parameters of ", computation.name(),
                      " are not numbered 0, 1, ...");
    signature.parameters.push_back(&parameter->shape());
  }
  if (computation.root() == nullptr)
    return op.Error("module-c6", computation.name(), " has no root");
  signature.result = &computation.root()->shape();
  return signature;
}

absl::Status ExpectParameters(const OpView& op, const Signature& signature,
                              absl::Span<const Shape* const> expected, int rule) {
  const std::string& name = signature.computation->name();
  if (signature.parameters.size() != expected.size())
    return Fail(op, rule, name, " takes ", signature.parameters.size(), " parameters, expected ",
                expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (!Compatible(*signature.parameters[i], *expected[i]))
      return Fail(op, rule, "parameter ", i, " of ", name, " is ", Text(*signature.parameters[i]),
                  ", expected ", Text(*expected[i]));
  return absl::OkStatus();
}

namespace {

bool IsScalarOf(const Shape& shape, ElementType type) {
  return shape.IsScalar() && SameTypeOrFloats(shape.type, type);
}

}  // namespace

// A reducer of n arrays takes 2 n scalars, accumulators then elements, and returns n. Gives the
// types of its results.
absl::StatusOr<std::vector<ElementType>> ExpectReducer(const OpView& op, const Signature& reducer,
                                                       absl::Span<const ElementType> inits,
                                                       absl::Span<const ElementType> elements,
                                                       int rule) {
  const size_t n = inits.size();
  const std::string& name = reducer.computation->name();
  if (reducer.parameters.size() != 2 * n)
    return Fail(op, rule, name, " takes ", reducer.parameters.size(), " parameters, expected ",
                2 * n);
  std::vector<const Shape*> results;
  if (reducer.result->IsTuple()) {
    for (const Shape& element : reducer.result->elements) results.push_back(&element);
  } else {
    results.push_back(reducer.result);
  }
  if (results.size() != n)
    return Fail(op, rule, name, " returns ", Text(*reducer.result), ", expected ", n, " scalar",
                n == 1 ? "" : "s");
  std::vector<ElementType> types;
  for (size_t i = 0; i < n; ++i) {
    if (!IsScalarOf(*results[i], inits[i]))
      return Fail(op, rule, "result ", i, " of ", name, " is ", Text(*results[i]), ", expected ",
                  Text(inits[i]), "[]");
    if (!IsScalarOf(*reducer.parameters[i], results[i]->type))
      return Fail(op, rule, "parameter ", i, " of ", name, " is ", Text(*reducer.parameters[i]),
                  ", expected ", Text(results[i]->type), "[]");
    if (!IsScalarOf(*reducer.parameters[n + i], elements[i]))
      return Fail(op, rule, "parameter ", n + i, " of ", name, " is ",
                  Text(*reducer.parameters[n + i]), ", expected ", Text(elements[i]), "[]");
    types.push_back(results[i]->type);
  }
  return types;
}

Shape OneOrTuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}

namespace {

// The largest exponent of finite values.
int LargestExponent(ElementType type) {
  const FloatFormat& format = FormatOf(type);
  const bool reserved = format.has_infinity || (format.mantissa_bits == 0 && format.has_nan);
  return (1 << format.exponent_bits) - 1 - (reserved ? 1 : 0) - format.bias;
}

// What XLA orders types by: class, range, precision, width, sign.
auto Precedence(ElementType type) {
  const ElementType part = IsComplex(type) ? RealComponent(type) : type;
  const bool floats = IsFloat(part);
  return std::make_tuple(IsComplex(type), floats ? LargestExponent(part) : -1,
                         floats ? FormatOf(part).mantissa_bits : -1,
                         IsPred(type) ? 1 : BitWidth(type), IsSigned(type));
}

// The type of higher precedence, as XLA's HigherPrecisionElementType has it.
ElementType ProductType(ElementType lhs, ElementType rhs) {
  return Precedence(rhs) > Precedence(lhs) ? rhs : lhs;
}

}  // namespace

// The stated result type (preferred_element_type), if products of these types may be summed in it.
absl::StatusOr<ElementType> AccumulationType(const OpView& op, ElementType lhs, ElementType rhs,
                                             int rule) {
  const ElementType wider = ProductType(lhs, rhs);
  const ElementType stated = op.declared() != nullptr ? op.declared()->type : wider;
  if (stated == wider) return wider;
  if (!IsArrayType(stated))
    return Fail(op, rule, "expects an array as result, found ", Text(*op.declared()));
  if (!IsFloat(wider) && !IsComplex(wider) &&
      BitWidth(stated) < std::min(BitWidth(lhs), BitWidth(rhs)))
    return Fail(op, rule, "result type ", Text(stated), " is narrower than the operands' ",
                Text(wider));
  return stated;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
