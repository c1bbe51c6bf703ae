// Elementwise operations that have attributes or need a word more than their opcode.
//
//   stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<ulps = 2, ...>}
//   stablehlo.compare LT, %a, %b, TOTALORDER
// exp, log, log1p and sqrt of complex numbers are written out of real operations
// (complex_functions.cc), as XLA's conversion does.
// maximum and minimum order complex numbers by their real parts, then by the imaginary ones.
#include <limits>

#include "absl/strings/ascii.h"
#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

// `#stablehlo.result_accuracy<atol = .., rtol = .., ulps = .., mode = ..>`.
absl::StatusOr<ResultAccuracy> AccuracyOf(const MlirOperation& op) {
  ResultAccuracy accuracy;
  ASSIGN_OR_RETURN(const OpAttributes fields, OpAttributes(op).OptionalFields("result_accuracy"));
  ASSIGN_OR_RETURN(const std::string mode, fields.Word("mode", "DEFAULT"));
  if (mode == "HIGHEST") accuracy.kind = ResultAccuracy::Kind::kHighest;
  if (mode != "TOLERANCE") return accuracy;
  accuracy.kind = ResultAccuracy::Kind::kTolerance;
  if (fields.Has("atol")) {
    ASSIGN_OR_RETURN(accuracy.atol, fields.Float("atol"));
  }
  if (fields.Has("rtol")) {
    ASSIGN_OR_RETURN(accuracy.rtol, fields.Float("rtol"));
  }
  ASSIGN_OR_RETURN(accuracy.ulps, fields.Int("ulps", 0));
  return accuracy;
}

absl::Status ConvertTranscendental(Opcode opcode, BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1) return InvalidArgument(op.name, ": expected one operand");
  ASSIGN_OR_RETURN(ResultAccuracy accuracy, AccuracyOf(op));
  const Shape& shape = operands[0]->shape();
  if (const auto formula = ComplexFormulaOf(opcode);
      formula != nullptr && IsComplex(shape.type) && SameIgnoringLayout(shape, body.ShapeOf(op))) {
    body.SetResults(op, formula(Formula(body, operands[0])).value());
    return absl::OkStatus();
  }
  body.SetResults(op, body.Add(opcode, body.ShapeOf(op), operands, AccuracyAttrs{accuracy}));
  return absl::OkStatus();
}

}  // namespace

#define CONVERT_TRANSCENDENTAL(opcode)                                         \
  absl::Status Convert##opcode(BodyConverter& body, const MlirOperation& op) { \
    return ConvertTranscendental(Opcode::k##opcode, body, op);                 \
  }
CONVERT_TRANSCENDENTAL(Cbrt)
CONVERT_TRANSCENDENTAL(Cosine)
CONVERT_TRANSCENDENTAL(Exponential)
CONVERT_TRANSCENDENTAL(ExponentialMinusOne)
CONVERT_TRANSCENDENTAL(Log)
CONVERT_TRANSCENDENTAL(LogPlusOne)
CONVERT_TRANSCENDENTAL(Logistic)
CONVERT_TRANSCENDENTAL(Rsqrt)
CONVERT_TRANSCENDENTAL(Sine)
CONVERT_TRANSCENDENTAL(Sqrt)
CONVERT_TRANSCENDENTAL(Tan)
CONVERT_TRANSCENDENTAL(Tanh)
#undef CONVERT_TRANSCENDENTAL

namespace {

// The larger or smaller of two numbers; complex ones by their real parts, then by the imaginary
// ones, which HLO has no instruction for.
absl::Status ConvertExtreme(BodyConverter& body, const MlirOperation& op, Opcode opcode) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 2 || op.results.size() != 1)
    return InvalidArgument(op.name, ": expected 2 operands and a result");
  const Shape shape = body.ShapeOf(op);
  if (!IsComplex(shape.type)) {
    body.SetResults(op, body.Add(opcode, shape, operands));
    return absl::OkStatus();
  }
  std::vector<Formula> parts;
  for (Instruction* operand : operands) {
    const Formula whole(body, operand);
    parts.push_back(whole.RealPart());
    parts.push_back(whole.ImaginaryPart());
  }
  const auto precedes = [&](Formula a, Formula b) {
    return opcode == Opcode::kMaximum ? a > b : a < b;
  };
  const Formula later = (parts[0] == parts[2]).Apply(Opcode::kAnd, precedes(parts[1], parts[3]));
  const Formula first = precedes(parts[0], parts[2]).Apply(Opcode::kOr, later);
  const Formula a(body, operands[0]), b(body, operands[1]);
  body.SetResults(op, first.Select(a, b).value());
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertMaximum(BodyConverter& body, const MlirOperation& op) {
  return ConvertExtreme(body, op, Opcode::kMaximum);
}

absl::Status ConvertMinimum(BodyConverter& body, const MlirOperation& op) {
  return ConvertExtreme(body, op, Opcode::kMinimum);
}

// Of complex numbers the real parts are converted.
absl::Status ConvertConvert(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckOperands(op, 1));
  const Shape shape = body.ShapeOf(op);
  if (const Shape& from = operands[0]->shape(); IsComplex(from.type) && !IsComplex(shape.type)) {
    const Shape real = from.WithType(RealComponent(from.type));
    operands[0] = Simplified(body, body.Add(Opcode::kReal, real, {operands[0]}));
  } else if (SameIgnoringLayout(shape, from)) {
    body.Set(op.results[0], operands[0]);
    return absl::OkStatus();
  }
  body.SetResults(op, body.Add(Opcode::kConvert, shape, operands));
  return absl::OkStatus();
}

absl::Status ConvertCompare(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckOperands(op, 2));
  const OpAttributes attributes(op);
  CompareAttrs compare;
  ASSIGN_OR_RETURN(compare.direction,
                   attributes.Enum<ComparisonDirection>("comparison_direction", "EQ"));
  ASSIGN_OR_RETURN(const std::string order, attributes.Word("compare_type", "NOTYPE"));
  if (order == "TOTALORDER") compare.type = ComparisonType::kTotalOrder;
  body.SetResults(op, body.Add(Opcode::kCompare, body.ShapeOf(op), operands, compare));
  return absl::OkStatus();
}

// A scalar predicate chooses for all elements.
absl::Status ConvertSelect(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 3) return InvalidArgument(op.name, ": expected three operands");
  const Shape shape = body.ShapeOf(op);
  if (operands[0]->shape().IsScalar() && !shape.IsScalar())
    operands[0] = body.Add(Opcode::kBroadcast, operands[1]->shape().WithType(ElementType::kPred),
                           {operands[0]}, BroadcastAttrs());
  body.SetResults(op, body.Add(Opcode::kSelect, shape, operands));
  return absl::OkStatus();
}

absl::Status ConvertReducePrecision(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  const OpAttributes attributes(op);
  ReducePrecisionAttrs precision;
  ASSIGN_OR_RETURN(precision.exponent_bits, attributes.Int("exponent_bits"));
  ASSIGN_OR_RETURN(precision.mantissa_bits, attributes.Int("mantissa_bits"));
  body.SetResults(op, body.Add(Opcode::kReducePrecision, body.ShapeOf(op), operands, precision));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
