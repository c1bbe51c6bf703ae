// Sizes that types leave open, where the program itself says them.
//
//   %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
//   %1 = stablehlo.dynamic_reshape %0, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
//
// gives a reshape to f32[2,3]: sizes that are operands are computed here, from constants, sizes of
// dimensions and arithmetic on them; the results of all other operations follow from the shapes of
// their operands, as HLO infers them. An operation of which a size stays open is left to its
// conversion, which refuses it or, with an open parameter, keeps it open.
#include <algorithm>
#include <unordered_map>

#include "ops/infer/op_table.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

constexpr int kMaxDepth = 100;
constexpr int64_t kMaxSteps = 1 << 14;
constexpr int64_t kMaxElements = 1 << 12;

// Values that constants alone determine, each computed once. Calls are followed: JAX divides sizes
// by functions of its own. Limits: kMaxDepth operations one after the other, calls included, and
// kMaxSteps in all.
class ConstantEvaluator {
 public:
  ConstantEvaluator(std::vector<std::optional<Literal>> arguments, int depth, int64_t& steps)
      : arguments_(std::move(arguments)), depth_(depth), steps_(steps) {}

  // Null where the value is known only at run time.
  const Literal* Value(const Instruction& i) {
    const auto found = values_.find(&i);
    if (found != values_.end()) return found->second ? &*found->second : nullptr;
    if (!i.shape().IsArray() || HasOpenSizes(i.shape()) || i.shape().ElementCount() > kMaxElements)
      return nullptr;
    if (i.IsConstant() && i.literal() != nullptr) return i.literal();
    if (depth_ >= kMaxDepth || ++steps_ > kMaxSteps) return nullptr;
    ++depth_;
    std::optional<Literal> value = Compute(i);
    --depth_;
    std::optional<Literal>& kept = values_[&i];
    kept = std::move(value);
    return kept ? &*kept : nullptr;
  }

 private:
  std::optional<Literal> Compute(const Instruction& i) {
    if (i.IsParameter()) {
      const size_t number = static_cast<size_t>(i.parameter_number());
      return number < arguments_.size() ? arguments_[number] : std::nullopt;
    }
    if (i.opcode() == Opcode::kCall) return Result(i, -1);
    if (i.opcode() == Opcode::kGetTupleElement) {
      const int64_t index = i.attr<GetTupleElementAttrs>().index;
      const Instruction& tuple = *i.operand(0);
      return tuple.opcode() == Opcode::kCall ? Result(tuple, index) : Part(tuple, index);
    }
    if (i.operand_count() == 0 || i.HasSideEffect() || !i.called().empty() ||
        i.opcode() == Opcode::kCustomCall || i.shape().HasDynamicDims() || !FollowsRules(i))
      return std::nullopt;
    std::vector<const Literal*> operands;
    for (const Instruction* operand : i.operands()) {
      operands.push_back(Value(*operand));
      if (operands.back() == nullptr) return std::nullopt;
    }
    const CallComputation no_calls = [](const Computation&, absl::Span<const Literal* const>) {
      return absl::StatusOr<Literal>(absl::UnimplementedError("no calls here"));
    };
    absl::StatusOr<Literal> value = Evaluate(EvalContext{i, operands, no_calls, 0, 0, nullptr});
    if (!value.ok()) return std::nullopt;
    return *std::move(value);
  }

  // Element `index` of a tuple instruction, the instruction itself where that is -1.
  std::optional<Literal> Part(const Instruction& from, int64_t index) {
    const Instruction* part = &from;
    if (index >= 0) {
      if (from.opcode() != Opcode::kTuple || index >= from.operand_count()) return std::nullopt;
      part = from.operand(index);
    }
    const Literal* value = Value(*part);
    if (value == nullptr) return std::nullopt;
    return *value;
  }

  std::optional<Literal> Result(const Instruction& call, int64_t index) {
    std::vector<std::optional<Literal>> arguments;  // the function may do without some
    for (const Instruction* operand : call.operands()) {
      const Literal* value = Value(*operand);
      arguments.push_back(value == nullptr ? std::nullopt : std::optional<Literal>(*value));
    }
    ConstantEvaluator inside(std::move(arguments), depth_, steps_);
    return inside.Part(*call.to_apply()->root(), index);
  }

  const std::vector<std::optional<Literal>> arguments_;
  int depth_;
  int64_t& steps_;
  std::unordered_map<const Instruction*, std::optional<Literal>> values_;  // keeps its addresses
};

// What `i` computes, where that is a matter of a few constants.
std::optional<Literal> Known(const Instruction& i) {
  int64_t steps = 0;
  ConstantEvaluator evaluator({}, 0, steps);
  const Literal* value = evaluator.Value(i);
  if (value == nullptr) return std::nullopt;
  return *value;
}

// The sizes that an operand says; nothing where they are known only at run time or are none.
absl::StatusOr<std::optional<DimVector>> SizesOf(BodyConverter& body, const MlirOperation& op,
                                                 size_t operand) {
  if (operand >= op.operands.size()) return std::optional<DimVector>();
  ASSIGN_OR_RETURN(const Instruction* value, body.Value(*op.operands[operand]));
  const auto ints = KnownInts(*value);
  if (!ints) return std::optional<DimVector>();
  for (const int64_t size : *ints)
    if (size < 0) return InvalidArgument(op.name, ": the size ", size, " is negative");
  return std::optional(DimVector(ints->begin(), ints->end()));
}

// Reshapes leave one size open at most, which the number of elements says.
std::optional<DimVector> ReshapedSizes(const Shape& from, DimVector dims) {
  int64_t open = -1, rest = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != kUnbounded) {
      if (__builtin_mul_overflow(rest, dims[d], &rest)) return std::nullopt;
    } else if (open >= 0) {
      return std::nullopt;
    } else {
      open = static_cast<int64_t>(d);
    }
  }
  if (open < 0) return dims;
  if (rest == 0 || from.ElementCount() % rest != 0) return std::nullopt;
  dims[open] = from.ElementCount() / rest;
  return dims;
}

bool IsElementwise(absl::string_view name) {
  for (const char* other :
       {"stablehlo.convert", "stablehlo.compare", "stablehlo.reduce_precision", "stablehlo.maximum",
        "stablehlo.minimum", "stablehlo.select", "chlo.next_after"})
    if (name == other) return true;
  return SimpleOpcodeOf(name).has_value();
}

// The operand of the most dimensions: those of rank 0 spread, in select and clamp.
std::optional<DimVector> LargestOperand(absl::Span<Instruction* const> operands) {
  const Shape* largest = nullptr;
  for (const Instruction* operand : operands)
    if (largest == nullptr || operand->shape().rank() > largest->rank())
      largest = &operand->shape();
  if (largest == nullptr) return std::nullopt;
  return largest->dims;
}

absl::StatusOr<std::optional<DimVector>> RefinedSizes(BodyConverter& body, const MlirOperation& op,
                                                      absl::Span<Instruction* const> operands) {
  const Shape& stated = op.results[0].type->shape;
  if (op.name == "stablehlo.dynamic_reshape" || op.name == "stablehlo.dynamic_broadcast_in_dim")
    return SizesOf(body, op, 1);
  if (op.name == "stablehlo.dynamic_iota") return SizesOf(body, op, 0);
  if (op.name == "stablehlo.rng") return SizesOf(body, op, 2);
  if (operands.empty()) return std::optional<DimVector>();
  if (op.name == "stablehlo.reshape") return ReshapedSizes(operands[0]->shape(), stated.dims);
  if (op.name == "stablehlo.broadcast_in_dim") {
    ASSIGN_OR_RETURN(const DimVector to, OpAttributes(op).Ints("broadcast_dimensions"));
    DimVector dims = stated.dims;
    for (size_t i = 0; i < to.size() && i < operands[0]->shape().dims.size(); ++i)
      if (to[i] >= 0 && to[i] < stated.rank() && dims[to[i]] == kUnbounded)
        dims[to[i]] = operands[0]->shape().dims[i];
    return std::optional(dims);
  }
  if (IsElementwise(op.name)) return LargestOperand(operands);
  return std::optional<DimVector>();
}

}  // namespace

bool HasOpenSizes(const Shape& shape) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements)
      if (HasOpenSizes(element)) return true;
    return false;
  }
  return std::find(shape.dims.begin(), shape.dims.end(), kUnbounded) != shape.dims.end();
}

bool HasOpenSizes(const MlirOperation& op) {
  for (const MlirValue& result : op.results)
    if (result.type->HasShape() && HasOpenSizes(result.type->shape)) return true;
  return false;
}

bool HasOpenSignature(const MlirOperation& function) {
  const MlirAttribute* type = function.Find("function_type");
  if (type == nullptr || type->type == nullptr) return false;
  for (const auto* side : {&type->type->inputs, &type->type->results})
    for (const MlirType* each : *side)
      if (each->HasShape() && HasOpenSizes(each->shape)) return true;
  return false;
}

std::optional<std::vector<int64_t>> KnownInts(const Instruction& instruction) {
  const ElementType type = instruction.shape().type;
  if (!IsInteger(type) && !IsPred(type)) return std::nullopt;
  const std::optional<Literal> value = Known(instruction);
  if (!value) return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < value->element_count(); ++i) ints.push_back(value->GetInt(i));
  return ints;
}

void CloseSizes(Instruction& made) {
  if (!HasOpenSizes(made.shape())) return;
  for (const Instruction* operand : made.operands())
    if (HasOpenSizes(operand->shape())) return;
  const absl::StatusOr<Shape> inferred = InferShape(made);
  if (!inferred.ok() || inferred->IsTuple() != made.shape().IsTuple()) return;
  made.set_shape(inferred->WithDefaultLayout());
}

absl::StatusOr<bool> ConvertRefined(BodyConverter& body, const MlirOperation& op) {
  if (op.results.size() != 1 || !HasOpenSizes(op) || !op.results[0].type->shape.IsArray())
    return false;
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  for (const Instruction* operand : operands)
    if (HasOpenSizes(operand->shape())) return false;
  ASSIGN_OR_RETURN(const std::optional<DimVector> sizes, RefinedSizes(body, op, operands));
  const Shape& stated = op.results[0].type->shape;
  if (!sizes) return false;
  if (sizes->size() != stated.dims.size())
    return InvalidArgument(op.name, ": ", sizes->size(), " sizes for a result of ",
                           stated.dims.size(), " dimensions");
  MlirType type = *op.results[0].type;
  type.shape = Shape::Array(stated.type, *sizes);
  for (int d = 0; d < stated.rank(); ++d) {
    if (stated.dims[d] != kUnbounded && !stated.IsDynamic(d) && stated.dims[d] != (*sizes)[d])
      return InvalidArgument(op.name, ": dimension ", d, " has the size ", (*sizes)[d],
                             ", the type says ", stated.dims[d]);
    if (stated.dims[d] != kUnbounded && stated.IsDynamic(d)) return false;
  }
  if (HasOpenSizes(type.shape)) return false;
  MlirOperation stands;
  stands.name = op.name;
  stands.operands = op.operands;
  stands.attributes = op.attributes;
  stands.place = op.place;
  stands.location = op.location;
  stands.results.push_back({&type});
  RETURN_IF_ERROR(body.ConvertSynthetic(stands));
  ASSIGN_OR_RETURN(Instruction * made, body.Value(stands.results[0]));
  body.Set(op.results[0], made);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
