// Quantized numbers: integers that stand for (stored - zero point) * scale.
//
//   %2 = stablehlo.add %0, %1 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
//
// is an addition in f32 between two conversions: of each operand to f32, minus 3, times 0.5; and of
// the sum, divided by 0.5, plus 3, clamped to -128 to 127, rounded to even, to s8. So the
// specification of StableHLO defines nearly all operations (dequantize, operate, quantize). In the
// module such a value is an array of its stored integers, parameters and results too. Operations
// that move elements move the integers where the types agree; reductions keep the integers between
// the steps of their regions, which quantize each sum.
// Limits: integers of at most 32 bits; types quantized in blocks are refused by the readers.
#include <deque>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "stablehlo/convert/formula_internal.h"

namespace hlokit {
namespace {

// Operations that hand integers on as they are, with regions or without.
bool MovesElements(absl::string_view name) {
  static const auto& kMoving = *new absl::flat_hash_set<absl::string_view>{
      "builtin.unrealized_conversion_cast",
      "func.call",
      "interpreter.print",
      "interpreter.probe",
      "interpreter.run_parallel",
      "stablehlo.all_gather",
      "stablehlo.all_to_all",
      "stablehlo.bitcast_convert",
      "stablehlo.broadcast",
      "stablehlo.broadcast_in_dim",
      "stablehlo.collective_broadcast",
      "stablehlo.collective_permute",
      "stablehlo.composite",
      "stablehlo.concatenate",
      "stablehlo.constant",
      "stablehlo.custom_call",
      "stablehlo.dynamic_broadcast_in_dim",
      "stablehlo.dynamic_gather",
      "stablehlo.dynamic_pad",
      "stablehlo.dynamic_reshape",
      "stablehlo.dynamic_slice",
      "stablehlo.dynamic_update_slice",
      "stablehlo.gather",
      "stablehlo.get_dimension_size",
      "stablehlo.get_tuple_element",
      "stablehlo.infeed",
      "stablehlo.optimization_barrier",
      "stablehlo.outfeed",
      "stablehlo.pad",
      "stablehlo.real_dynamic_slice",
      "stablehlo.recv",
      "stablehlo.reshape",
      "stablehlo.reverse",
      "stablehlo.select",
      "stablehlo.send",
      "stablehlo.set_dimension_size",
      "stablehlo.slice",
      "stablehlo.transpose",
      "stablehlo.tuple",
  };
  return kMoving.contains(name);
}

const QuantizedElement* ElementOf(const MlirValue& value) { return value.type->quantized.get(); }

// Whether all quantized values have the same scales and zero points, whatever their dimension.
bool AgreeInElements(const MlirOperation& op) {
  const QuantizedElement* first = nullptr;
  bool agree = true;
  auto look = [&](const MlirValue& value) {
    const QuantizedElement* element = ElementOf(value);
    if (element == nullptr) return;
    if (first == nullptr) first = element;
    agree &= element->expressed == first->expressed && element->scales == first->scales &&
             element->zero_points == first->zero_points && element->least == first->least &&
             element->greatest == first->greatest;
  };
  for (const MlirValue* operand : op.operands) look(*operand);
  for (const MlirValue& result : op.results) look(result);
  return agree;
}

// Whether operations such as calls may take and give values of different types.
bool MixesElements(absl::string_view name) {
  for (const char* any :
       {"func.call", "stablehlo.constant", "stablehlo.custom_call", "stablehlo.tuple",
        "stablehlo.optimization_barrier", "stablehlo.composite", "stablehlo.bitcast_convert",
        "builtin.unrealized_conversion_cast", "interpreter.run_parallel", "stablehlo.infeed",
        "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv", "stablehlo.get_dimension_size",
        "stablehlo.get_tuple_element"})
    if (name == any) return true;
  return false;
}

// The numbers as an array of the shape: one for all elements, or one for each place along the
// element's dimension.
absl::StatusOr<Formula> Along(BodyConverter& body, const QuantizedElement& element,
                              absl::Span<const double> numbers, const Shape& shape) {
  if (element.dimension < 0) return Formula(body, body.Splat(numbers[0], shape));
  const int64_t size = static_cast<int64_t>(numbers.size());
  if (element.dimension >= shape.rank() || shape.dims[element.dimension] != size)
    return InvalidArgument("a type with ", size, " scales along dimension ", element.dimension,
                           " does not fit ", Text(shape));
  Literal list = Literal::Unset(Shape::Array(shape.type, {size}).WithDefaultLayout());
  for (int64_t i = 0; i < size; ++i) list.SetDouble(i, numbers[i]);
  return Formula(body, body.Add(Opcode::kBroadcast, shape, {body.Constant(std::move(list))},
                                BroadcastAttrs{{element.dimension}}));
}

struct Parameters {
  Formula scale, zero_point;
};

absl::StatusOr<Parameters> ParametersOf(BodyConverter& body, const QuantizedElement& element,
                                        const Shape& shape) {
  const std::vector<double> zeros(element.zero_points.begin(), element.zero_points.end());
  ASSIGN_OR_RETURN(const Formula scale, Along(body, element, element.scales, shape));
  ASSIGN_OR_RETURN(const Formula zero_point, Along(body, element, zeros, shape));
  return Parameters{scale, zero_point};
}

absl::StatusOr<Instruction*> Dequantized(BodyConverter& body, Instruction* stored,
                                         const QuantizedElement& element) {
  const Formula number = Formula(body, stored).To(element.expressed);
  ASSIGN_OR_RETURN(const Parameters p, ParametersOf(body, element, number.shape()));
  return ((number - p.zero_point) * p.scale).value();
}

absl::StatusOr<Instruction*> Quantized(BodyConverter& body, Instruction* number,
                                       const MlirType& type) {
  const QuantizedElement& element = *type.quantized;
  const Formula x = Formula(body, number).To(element.expressed);
  ASSIGN_OR_RETURN(const Parameters p, ParametersOf(body, element, x.shape()));
  const Formula scaled = x / p.scale + p.zero_point;
  const Shape scalar = Shape::Scalar(element.expressed).WithDefaultLayout();
  Instruction* clamped =
      body.Add(Opcode::kClamp, x.shape(),
               {body.Splat(static_cast<double>(element.least), scalar), scaled.value(),
                body.Splat(static_cast<double>(element.greatest), scalar)});
  return Formula(body, clamped).Apply(Opcode::kRoundNearestEven).To(type.shape.type).value();
}

// The operand as a number; as it is where it is not quantized.
absl::StatusOr<Instruction*> NumberOf(BodyConverter& body, const MlirValue& value) {
  ASSIGN_OR_RETURN(Instruction * stored, body.Value(value));
  if (ElementOf(value) == nullptr) return stored;
  if (!stored->shape().IsArray() || stored->shape().HasDynamicDims())
    return Unimplemented("quantized values of unknown size");
  return Dequantized(body, stored, *ElementOf(value));
}

}  // namespace

absl::StatusOr<Instruction*> Requantized(BodyConverter& body, Instruction* stored,
                                         const QuantizedElement& from, const MlirType& to) {
  if (from == *to.quantized) return stored;
  ASSIGN_OR_RETURN(Instruction * number, Dequantized(body, stored, from));
  return Quantized(body, number, to);
}

bool ComputesOnQuantized(const MlirOperation& op) {
  bool any = false;
  for (const MlirValue* operand : op.operands) any |= ElementOf(*operand) != nullptr;
  for (const MlirValue& result : op.results) any |= ElementOf(result) != nullptr;
  const absl::string_view name = op.name;
  if (!any || !op.regions.empty() || name.substr(0, name.find('.')) == "sdy" ||
      name.substr(0, name.find('.')) == "check" || name == "stablehlo.uniform_quantize" ||
      name == "stablehlo.uniform_dequantize")
    return false;
  return !MovesElements(name) || !(MixesElements(name) || AgreeInElements(op));
}

absl::Status ConvertOnQuantized(BodyConverter& body, const MlirOperation& op) {
  MlirOperation stands;
  std::deque<MlirValue> values;
  std::deque<MlirType> types;
  auto plain = [&](const MlirType& type) {
    MlirType& made = types.emplace_back(type);
    if (made.quantized != nullptr) made.shape.type = made.quantized->expressed;
    made.quantized = nullptr;
    return &made;
  };
  stands.name = op.name;
  stands.attributes = op.attributes;
  for (const MlirValue* operand : op.operands) {
    values.push_back({plain(*operand->type)});
    ASSIGN_OR_RETURN(Instruction * number, NumberOf(body, *operand));
    body.Set(values.back(), number);
    stands.operands.push_back(&values.back());
  }
  for (const MlirValue& result : op.results) stands.results.push_back({plain(*result.type)});
  RETURN_IF_ERROR(body.ConvertSynthetic(stands));
  for (size_t i = 0; i < op.results.size(); ++i) {
    ASSIGN_OR_RETURN(Instruction * made, body.Value(stands.results[i]));
    if (ElementOf(op.results[i]) != nullptr) {
      ASSIGN_OR_RETURN(made, Quantized(body, made, *op.results[i].type));
    }
    body.Set(op.results[i], made);
  }
  return absl::OkStatus();
}

// Both operations: of a number or a quantized number, to either.
absl::Status ConvertUniformQuantize(BodyConverter& body, const MlirOperation& op) {
  if (op.operands.size() != 1 || op.results.size() != 1 ||
      !SameDims(op.operands[0]->type->shape, op.results[0].type->shape))
    return InvalidArgument(op.name, ": expected an operand, and a result of its dimensions");
  ASSIGN_OR_RETURN(Instruction * made, NumberOf(body, *op.operands[0]));
  if (!IsFloat(made->shape().type))
    return InvalidArgument(op.name, ": expected floats or quantized numbers");
  if (ElementOf(op.results[0]) != nullptr) {
    ASSIGN_OR_RETURN(made, Quantized(body, made, *op.results[0].type));
  } else {
    made = Formula(body, made).To(op.results[0].type->shape.type).value();
  }
  body.SetResults(op, made);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
