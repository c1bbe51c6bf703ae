// Operations of chlo that are a few instructions: top_k, predicates, broadcasts of unequal shapes.
//
//   chlo.broadcast_add %a, %b : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xf32>
// broadcasts both operands to f32[3,4], aligned at the last dimension as numpy does (or as
// broadcast_dimensions says), and then converts the operation of the name without `broadcast_`.
// That operation is made as MLIR for the moment and goes through the usual conversion, so every
// rule that holds for `add` holds here too.
// next_after(x, y) works on bits: the floats of one sign are ordered as their bits are as integers,
// so the neighbour of x is one more or one less of its bits. Zero is a case of its own, whose
// neighbour is the smallest number with the sign of y.
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "stablehlo/convert/formula_internal.h"

namespace hlokit {

absl::StatusOr<Formula> OnlyFormula(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() != 1 || !operands[0]->shape().IsArray())
    return InvalidArgument(op.name, ": expected an array and a result");
  return Formula(body, operands[0]);
}

absl::Status ConvertTopK(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  TopKAttrs top;
  ASSIGN_OR_RETURN(top.k, OpAttributes(op).Int("k"));
  ASSIGN_OR_RETURN(top.largest, OpAttributes(op).Bool("largest", true));
  if (operands.size() != 1 || op.results.size() != 2)
    return InvalidArgument(op.name, ": expected an operand and two results");
  body.SetResults(op, body.Add(Opcode::kTopK, body.ShapeOf(op), operands, top));
  return absl::OkStatus();
}

namespace {

// (re + im i)^2 as (re - im)(re + im) + 2 re im i, which is exact where re = im.
absl::Status ConvertComplexSquare(BodyConverter& body, const MlirOperation& op, Formula x) {
  const Formula re = x.RealPart();
  const Formula finite = re.IsFinite();
  const Formula re_size = Abs(re);
  const Formula im = x.ImaginaryPart();
  const Formula equal = finite.Apply(Opcode::kAnd, re_size == Abs(im));
  const Formula difference = equal.Select(re.Number(0), (re - im) * (re + im));
  const Formula twice = re * im * 2.0;
  body.SetResults(op, difference.ComplexWith(twice, x.shape()).value());
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertSquare(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  if (IsComplex(x.shape().type)) return ConvertComplexSquare(body, op, x);
  body.SetResults(op, (x * x).value());
  return absl::OkStatus();
}

absl::Status ConvertConj(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  const Formula real = x.RealPart();
  const Formula negative = -x.ImaginaryPart();
  body.SetResults(op, real.ComplexWith(negative, x.shape()).value());
  return absl::OkStatus();
}

absl::Status ConvertIsInf(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  body.SetResults(op, (Abs(x) == std::numeric_limits<double>::infinity()).value());
  return absl::OkStatus();
}

absl::Status ConvertIsPosInf(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  body.SetResults(op, (x == std::numeric_limits<double>::infinity()).value());
  return absl::OkStatus();
}

absl::Status ConvertIsNegInf(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const Formula x, OnlyFormula(body, op));
  body.SetResults(op, (x == -std::numeric_limits<double>::infinity()).value());
  return absl::OkStatus();
}

// The next value of the type from the first operand towards the second, by the bits of the first.
absl::Status ConvertNextAfter(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 2 || !IsFloat(operands[0]->shape().type))
    return InvalidArgument(op.name, ": expected two arrays of floats");
  const Formula from(body, operands[0]), to(body, operands[1]);
  const int width = BitWidth(from.shape().type);
  const ElementType bits_type = width == 64   ? ElementType::kS64
                                : width == 32 ? ElementType::kS32
                                : width == 16 ? ElementType::kS16
                                              : ElementType::kS8;
  Literal low(Shape::Scalar(bits_type)), rest(Shape::Scalar(bits_type));
  low.SetInt(0, static_cast<int64_t>(uint64_t{1} << (width - 1)));
  rest.SetInt(0, static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1));
  const auto is_nan = [](Formula x) { return x.Compare(ComparisonDirection::kNe, x); };
  const Formula any_nan = is_nan(from).Apply(Opcode::kOr, is_nan(to));
  const Formula nan = from.Number(std::numeric_limits<double>::quiet_NaN()).BitcastTo(bits_type);
  const Formula bits = from.BitcastTo(bits_type), to_bits = to.BitcastTo(bits_type);
  const Formula sign(body, body.Splat(low, bits.shape())),
      all(body, body.Splat(rest, bits.shape()));
  const Formula size = bits.Apply(Opcode::kAnd, all), to_size = to_bits.Apply(Opcode::kAnd, all);
  const Formula to_sign = to_bits.Apply(Opcode::kAnd, sign);
  // From zero the smallest number with the sign of the target; else one step in magnitude.
  const Formula from_zero =
      (to_size == 0.0).Select(to_bits, to_sign.Apply(Opcode::kOr, bits.Number(1)));
  const Formula crosses = bits.Apply(Opcode::kAnd, sign).Compare(ComparisonDirection::kNe, to_sign);
  const Formula shrinks = (size > to_size).Apply(Opcode::kOr, crosses);
  const Formula moved = bits + shrinks.Select(bits.Number(-1), bits.Number(1));
  const Formula result = (from == to).Select(to_bits, (size == 0.0).Select(from_zero, moved));
  body.SetResults(op, any_nan.Select(nan, result).BitcastTo(from.shape().type).value());
  return absl::OkStatus();
}

namespace {

// The operation of stablehlo that chlo.broadcast_<name> applies to operands of one shape.
std::string PlainName(absl::string_view name) {
  const size_t mark = name.find("broadcast_");
  const absl::string_view plain = mark == name.npos ? name : name.substr(mark + 10);
  const bool own = plain == "next_after" || plain == "polygamma" || plain == "zeta";
  return absl::StrCat(own ? "chlo." : "stablehlo.", plain);
}

}  // namespace

// Operands are spread as numpy does, or along broadcast_dimensions.
absl::Status ConvertBroadcasting(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckOperands(op, 1));
  if (op.results.size() != 1) return InvalidArgument(op.name, ": expected one result");
  const Shape result = body.ShapeOf(op);
  ASSIGN_OR_RETURN(const DimVector stated, OpAttributes(op).OptionalInts("broadcast_dimensions"));
  MlirOperation plain;
  std::deque<MlirValue> values;
  std::deque<MlirType> types;
  for (Instruction* operand : operands) {
    Shape shape = result.WithType(operand->shape().type);
    const int rank = operand->shape().rank();
    DimVector dimensions(rank);
    std::iota(dimensions.begin(), dimensions.end(), result.rank() - rank);
    if (!stated.empty() && static_cast<int>(stated.size()) == rank && rank < result.rank())
      dimensions = stated;
    if (!SameIgnoringLayout(operand->shape(), shape)) {
      ASSIGN_OR_RETURN(operand, BroadcastInto(body, operand, shape, dimensions));
    }
    MlirType type = *op.results[0].type;
    type.shape = shape.WithoutLayout();
    values.push_back({&types.emplace_back(std::move(type))});
    body.Set(values.back(), operand);
    plain.operands.push_back(&values.back());
  }
  const std::string name = PlainName(op.name);
  plain.name = name;
  plain.attributes = op.attributes;
  plain.results.push_back({op.results[0].type});
  RETURN_IF_ERROR(body.ConvertSynthetic(plain));
  ASSIGN_OR_RETURN(Instruction * made, body.Value(plain.results[0]));
  body.SetResults(op, made);
  return absl::OkStatus();
}

absl::Status ConvertConstantLike(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const double value, OpAttributes(op).Float("value"));
  if (op.results.size() != 1 || !op.results[0].type->shape.IsArray())
    return InvalidArgument(op.name, ": expected one array as the result");
  body.SetResults(op, body.Splat(value, body.ShapeOf(op)));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
