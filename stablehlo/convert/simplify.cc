// What XLA's conversion simplifies on its way from StableHLO to HLO, done here as each instruction
// is made:
//
//   add(constant, x)                     -> add(x, constant), and so each commutative operation
//   multiply(x, 1), x + 0, x - 0, x & -1 -> x
//   of integers x * 0, x - x, x ^ x, ...  -> a splat
//   slice of the whole, pad by nothing   -> x
//   slice of an operand of a concatenate -> the operand
//   concatenate of concatenates          -> one concatenate; broadcast of a broadcast likewise
//   select by a predicate of one value   -> an operand; of equal operands that one
//   real, imag of complex(x, y)          -> x, y
//   broadcast or slice of a splat        -> a splat
//   transpose(transpose(x))              -> one transpose; of dimensions of size 1 alone a reshape
//   iota over one of several dimensions  -> broadcast(iota of one dimension)
//   an array without elements            -> a constant
//   add(constant, constant)              -> a constant, up to kMaxFolded elements
//
// Instructions that go out of use here are dropped with all others at the end of the conversion.
//
// Limit: of the operations on constants those of kFolded and kFoldedOfPositive alone are computed.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/infer/op_table.h"
#include "stablehlo/convert/converter_internal.h"
#include "stablehlo/ir/dense.h"

namespace hlokit {

namespace {

// The scalar of which all elements of a constant are copies; null where they differ. A damaged
// broadcast may be of another type than what it spreads.
const Literal* SplatOf(const Instruction& i) {
  const Instruction& source = i.opcode() == Opcode::kBroadcast ? *i.operand(0) : i;
  if (!source.IsConstant() || source.literal() == nullptr || source.shape().ElementCount() != 1 ||
      source.shape().type != i.shape().type)
    return nullptr;
  return source.literal();
}

bool IsConstantOrSplat(const Instruction& i) { return i.IsConstant() || SplatOf(i) != nullptr; }

bool IsSplatOf(const Instruction& i, double value) {
  const Literal* splat = SplatOf(i);
  return splat != nullptr && splat->GetComplex(0) == std::complex<double>(value);
}

// Of integers or predicates with all bits set.
bool IsSplatOfOnes(const Instruction& i) {
  const Literal* splat = SplatOf(i);
  if (splat == nullptr) return false;
  const int bits = IsPred(splat->type()) ? 1 : BitWidth(splat->type());
  const bool narrow = bits < 64 && !IsSigned(splat->type());
  return splat->GetInt(0) == (narrow ? (int64_t{1} << bits) - 1 : -1);
}

// What 0, all bits and equal operands make of an operation of integers.
Instruction* SimplifyIntegers(BodyConverter& body, Instruction* made, Instruction* lhs,
                              Instruction* rhs) {
  const ElementType type = made->shape().type;
  if (!IsInteger(type) && !IsPred(type)) return made;
  const Opcode opcode = made->opcode();
  const bool zero = IsSplatOf(*rhs, 0);
  const bool ones = IsSplatOfOnes(*rhs);
  if (((opcode == Opcode::kMultiply || opcode == Opcode::kAnd) && zero) ||
      (opcode == Opcode::kOr && ones))
    return rhs;
  if (((opcode == Opcode::kOr || opcode == Opcode::kXor) && zero) ||
      (opcode == Opcode::kAnd && ones))
    return lhs;
  if (lhs == rhs && (opcode == Opcode::kXor || opcode == Opcode::kSubtract))
    return body.Splat(0.0, made->shape());
  return made;
}

Instruction* SimplifyCommutative(BodyConverter& body, Instruction* made) {
  Instruction *lhs = made->operand(0), *rhs = made->operand(1);
  if (IsConstantOrSplat(*lhs) && !IsConstantOrSplat(*rhs)) {
    std::swap(lhs, rhs);
    made = body.Add(made->opcode(), made->shape(), {lhs, rhs});
    TakeLayout(*made);
  }
  if (!SameIgnoringLayout(lhs->shape(), made->shape())) return made;
  if (IsComplex(made->shape().type)) return made;
  if (made->opcode() == Opcode::kMultiply && IsSplatOf(*rhs, 1)) return lhs;
  if (made->opcode() == Opcode::kAdd && IsSplatOf(*rhs, 0)) return lhs;
  return SimplifyIntegers(body, made, lhs, rhs);
}

Instruction* SimplifySubtract(BodyConverter& body, Instruction* made) {
  const bool same = SameIgnoringLayout(made->operand(0)->shape(), made->shape());
  if (same && !IsComplex(made->shape().type) && IsSplatOf(*made->operand(1), 0))
    return made->operand(0);
  return SimplifyIntegers(body, made, made->operand(0), made->operand(1));
}

// Arrays of more elements are left to be computed.
constexpr int64_t kMaxFolded = 65536;
constexpr Opcode kFolded[] = {
#define MLIR_SIMPLE(operation, opcode)
#define MLIR_CONVERT(operation, function)
#define MLIR_FOLDED(opcode) Opcode::k##opcode,
#include "stablehlo/convert/operations.def"
#undef MLIR_CONVERT
#undef MLIR_SIMPLE
};

// The elements of a constant, those of a splat spelled out.
Literal ElementsOf(const Instruction& constant) {
  if (constant.IsConstant()) return *constant.literal();
  const Literal& splat = *SplatOf(constant);
  Literal all = Literal::Unset(constant.shape());
  for (int64_t i = 0; i < all.element_count(); ++i)
    std::memcpy(all.data() + i * splat.byte_size(), splat.data(), splat.byte_size());
  return all;
}

// f8e8m0fnu has no infinity, its highest bits are NaN; but where XLA's conversion computes a
// constant, MLIR's own conversion makes an infinity of them (XLA's compilers give NaN).
void NanToInfinity(Literal& converted) {
  if (!IsFloat(converted.type()) || converted.type() == ElementType::kF8E8M0FNU) return;
  for (int64_t i = 0; i < converted.element_count(); ++i)
    if (std::isnan(converted.GetDouble(i)))
      converted.SetDouble(i, std::numeric_limits<double>::infinity());
}

// Whether the integers of the result hold all elements of a float.
bool HoldsAll(const Literal& from, const Literal& converted) {
  if (!IsFloat(from.type()) || !IsInteger(converted.type())) return true;
  for (int64_t i = 0; i < from.element_count(); ++i)
    if (std::trunc(from.GetDouble(i)) != converted.GetDouble(i)) return false;
  return true;
}

// Also computed, of positive numbers alone; a square root of 0 too.
constexpr Opcode kFoldedOfPositive[] = {Opcode::kLog, Opcode::kRsqrt, Opcode::kSqrt};

bool IsAmong(absl::Span<const Opcode> opcodes, Opcode opcode) {
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

bool AllPositive(const Literal& numbers, bool or_zero) {
  for (int64_t i = 0; i < numbers.element_count(); ++i) {
    const double x = numbers.GetDouble(i);
    if (!(x > 0) && !(or_zero && x == 0)) return false;
  }
  return true;
}

// The constant that an operation on constants gives; null where it is no such operation. Numbers
// that are complex are left to be computed.
Instruction* Fold(BodyConverter& body, const Instruction& made) {
  const bool of_positive = IsAmong(kFoldedOfPositive, made.opcode());
  if ((!of_positive && !IsAmong(kFolded, made.opcode())) ||
      made.shape().ElementCount() > kMaxFolded)
    return nullptr;
  const bool moves = made.opcode() == Opcode::kReshape || made.opcode() == Opcode::kSelect;
  if (!moves && (IsComplex(made.shape().type) || IsComplex(made.operand(0)->shape().type)))
    return nullptr;
  for (const Instruction* operand : made.operands())
    if (!IsConstantOrSplat(*operand) || operand->shape().ElementCount() > kMaxFolded)
      return nullptr;
  std::vector<Literal> values;
  for (const Instruction* operand : made.operands()) values.push_back(ElementsOf(*operand));
  if (of_positive && !AllPositive(values[0], made.opcode() == Opcode::kSqrt)) return nullptr;
  std::vector<const Literal*> operands;
  for (const Literal& value : values) operands.push_back(&value);
  absl::StatusOr<Literal> result = Evaluate(EvalContext{made, operands, {}, 0, 0, nullptr});
  if (!result.ok()) return nullptr;
  if (made.opcode() == Opcode::kConvert && !HoldsAll(values[0], *result)) return nullptr;
  if (made.opcode() == Opcode::kConvert && values[0].type() == ElementType::kF8E8M0FNU)
    NanToInfinity(*result);
  const Shape shape = made.shape().WithDefaultLayout();
  if (!AllEqual(*result))
    return body.Constant(std::make_shared<const Literal>(*std::move(result)), shape);
  Literal scalar(Shape::Scalar(shape.type).WithDefaultLayout());
  std::memcpy(scalar.data(), result->data(), scalar.byte_size());
  return body.Splat(scalar, shape);
}

// Whether it is an instruction of that kind, of which the attributes can be relied on: the
// conversion makes instructions that the verifier is yet to refuse.
bool IsSound(const Instruction& i, Opcode opcode) {
  return i.opcode() == opcode && FollowsRules(i);
}

// Whether the dimensions that are not of size 1 keep their order.
bool OnlyMovesOnes(const Shape& operand, absl::Span<const int64_t> permutation) {
  int64_t last = -1;
  for (const int64_t d : permutation) {
    if (operand.dims[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

Instruction* SimplifyTranspose(BodyConverter& body, Instruction* made) {
  Instruction* operand = made->operand(0);
  DimVector permutation = made->attr<DimensionsAttrs>().dimensions;
  if (operand->shape().HasDynamicDims()) return made;
  if (const Literal* splat = SplatOf(*operand)) return body.Splat(*splat, made->shape());
  if (IsSound(*operand, Opcode::kTranspose)) {
    const DimVector& inner = operand->attr<DimensionsAttrs>().dimensions;
    for (int64_t& d : permutation) d = inner[d];
    operand = operand->operand(0);
    made = body.Add(Opcode::kTranspose, made->shape(), {operand}, DimensionsAttrs{permutation});
  }
  if (!OnlyMovesOnes(operand->shape(), permutation)) {
    PermuteLayout(*made);
    return made;
  }
  const Shape shape = made->shape().WithDefaultLayout();
  if (SameIgnoringLayout(shape, operand->shape())) return operand;
  return body.Add(Opcode::kReshape, shape, {operand});
}

Instruction* SimplifyReshape(BodyConverter& body, Instruction* made) {
  Instruction* operand = made->operand(0);
  if (made->shape().HasDynamicDims() || operand->shape().HasDynamicDims()) return made;
  if (const Literal* splat = SplatOf(*operand)) return body.Splat(*splat, made->shape());
  if (operand->opcode() != Opcode::kReshape) return made;
  while (operand->opcode() == Opcode::kReshape) operand = operand->operand(0);
  if (SameIgnoringLayout(made->shape(), operand->shape())) return operand;
  return body.Add(Opcode::kReshape, made->shape(), {operand});
}

Instruction* SimplifyIota(BodyConverter& body, Instruction* made) {
  const int64_t dimension = made->attr<IotaAttrs>().iota_dimension;
  const Shape& shape = made->shape();
  if (shape.HasDynamicDims() || dimension < 0 || dimension >= shape.rank()) return made;
  if (shape.dims[dimension] == 1) return body.Splat(0.0, shape);
  if (shape.rank() < 2) return made;
  Instruction* line =
      body.Add(Opcode::kIota, Shape::Array(shape.type, {shape.dims[dimension]}).WithDefaultLayout(),
               {}, IotaAttrs{0});
  if (shape.ElementCount() == shape.dims[dimension])
    return body.Add(Opcode::kReshape, shape, {line});
  return body.Add(Opcode::kBroadcast, shape, {line}, BroadcastAttrs{{dimension}});
}

// The operand of a concatenate that a slice with steps of 1 takes whole.
Instruction* SimplifySliceOfConcatenate(Instruction* made) {
  const Instruction& joined = *made->operand(0);
  if (!IsSound(joined, Opcode::kConcatenate)) return made;
  const int64_t along = joined.attr<DimensionsAttrs>().dimensions[0];
  const SliceSpec& slice = made->attr<SliceAttrs>().slice;
  int64_t start = 0;
  for (Instruction* part : joined.operands()) {
    if (part->shape().HasDynamicDims()) return made;
    if (start == slice[along].start && SameIgnoringLayout(part->shape(), made->shape()) &&
        slice[along].stride == 1)
      return part;
    start += part->shape().dims[along];
  }
  return made;
}

Instruction* SimplifySlice(BodyConverter& body, Instruction* made) {
  Instruction* operand = made->operand(0);
  if (operand->shape().HasDynamicDims()) return made;
  if (SameIgnoringLayout(made->shape(), operand->shape())) return operand;
  if (const Literal* splat = SplatOf(*operand)) return body.Splat(*splat, made->shape());
  return SimplifySliceOfConcatenate(made);
}

// As one concatenate of the operands' operands where they join the same dimension and nothing else
// uses what they join, which would then be made twice.
Instruction* SimplifyConcatenate(BodyConverter& body, Instruction* made) {
  const DimensionsAttrs& attrs = made->attr<DimensionsAttrs>();
  std::vector<Instruction*> all;
  for (int64_t k = 0; k < made->operand_count(); ++k) {
    Instruction* operand = made->operand(k);
    if (operand->opcode() == Opcode::kConcatenate && operand->attr<DimensionsAttrs>() == attrs &&
        !body.IsUsedElsewhere(static_cast<size_t>(k))) {
      all.insert(all.end(), operand->operands().begin(), operand->operands().end());
    } else {
      all.push_back(operand);
    }
  }
  if (all.size() == 1) return all[0];
  return all.size() == made->operands().size()
             ? made
             : body.Add(Opcode::kConcatenate, made->shape(), all, attrs);
}

// The dimensions of the inner one where the outer one puts them.
Instruction* SimplifyBroadcast(BodyConverter& body, Instruction* made) {
  const Instruction* operand = made->operand(0);
  if (operand->shape().HasDynamicDims() || !IsSound(*operand, Opcode::kBroadcast)) return made;
  DimVector dimensions = operand->attr<BroadcastAttrs>().dimensions;
  for (int64_t& d : dimensions) d = made->attr<BroadcastAttrs>().dimensions[d];
  return body.Add(Opcode::kBroadcast, made->shape(), {operand->operand(0)},
                  BroadcastAttrs{std::move(dimensions)});
}

// The part that a complex number was made of.
Instruction* SimplifyPart(Instruction* made) {
  const Instruction& operand = *made->operand(0);
  if (operand.opcode() != Opcode::kComplex) return made;
  return operand.operand(made->opcode() == Opcode::kReal ? 0 : 1);
}

Instruction* SimplifyReverse(Instruction* made) {
  const Shape& shape = made->shape();
  for (const int64_t d : made->attr<DimensionsAttrs>().dimensions)
    if (shape.dims[d] != 1 || shape.IsDynamic(static_cast<int>(d))) return made;
  return made->operand(0);
}

// An update of all elements is what is left.
// At the start, of the whole array: the update.
Instruction* SimplifyUpdate(Instruction* made) {
  Instruction* update = made->operand(1);
  for (const Instruction* start : made->operands().subspan(2))
    if (!IsSplatOf(*start, 0)) return made;
  return SameIgnoringLayout(update->shape(), made->shape()) ? update : made;
}

// A predicate of which all elements are equal chooses an operand; one that is negated exchanges
// them.
Instruction* SimplifySelect(BodyConverter& body, Instruction* made) {
  const Instruction& predicate = *made->operand(0);
  const Literal* splat = SplatOf(predicate);
  if (splat == nullptr) {
    if (made->operand(1) == made->operand(2)) return made->operand(1);
    if (predicate.opcode() != Opcode::kNot) return made;
    return body.Add(Opcode::kSelect, made->shape(),
                    {predicate.operand(0), made->operand(2), made->operand(1)});
  }
  Instruction* chosen = made->operand(splat->GetInt(0) != 0 ? 1 : 2);
  return SameIgnoringLayout(chosen->shape(), made->shape()) ? chosen : made;
}

Instruction* SimplifyPad(Instruction* made) {
  const PaddingConfig& padding = made->attr<PadAttrs>().padding;
  const bool none = std::all_of(padding.begin(), padding.end(),
                                [](const PaddingDim& d) { return d == PaddingDim(); });
  return none ? made->operand(0) : made;
}

// Of no elements the first value is left, and over no dimensions the operand.
Instruction* SimplifyReduce(BodyConverter& body, Instruction* made) {
  const Shape& from = made->operand(0)->shape();
  if (made->operand_count() == 2 && made->attr<DimensionsAttrs>().dimensions.empty() &&
      SameIgnoringLayout(from, made->shape()))
    return made->operand(0);
  if (made->operand_count() != 2 || from.HasDynamicDims() || from.ElementCount() != 0 ||
      made->operand(1)->shape().type != made->shape().type)
    return made;
  if (const Literal* splat = SplatOf(*made->operand(1))) return body.Splat(*splat, made->shape());
  return body.Add(Opcode::kBroadcast, made->shape(), {made->operand(1)}, BroadcastAttrs());
}

// x is not false: x.
Instruction* SimplifyCompare(Instruction* made) {
  const bool differs = made->attr<CompareAttrs>().direction == ComparisonDirection::kNe;
  const bool of_predicates = IsPred(made->operand(0)->shape().type);
  return differs && of_predicates && IsSplatOf(*made->operand(1), 0) ? made->operand(0) : made;
}

// Whether there is a rule here for the opcode, or for constants of it.
bool HasRule(Opcode opcode) {
  static constexpr Opcode kOthers[] = {
      Opcode::kBroadcast, Opcode::kImag,  Opcode::kDynamicUpdateSlice, Opcode::kIota, Opcode::kPad,
      Opcode::kReal,      Opcode::kReduce};
  return std::find(std::begin(kOthers), std::end(kOthers), opcode) != std::end(kOthers) ||
         IsAmong(kFolded, opcode) || HasTrait(opcode, kElementwise);
}

// Without effects and without computations that might have some.
bool IsPure(const Instruction& i) {
  return !i.HasSideEffect() && i.called().empty() && i.opcode() != Opcode::kCustomCall &&
         !i.IsParameter();
}

}  // namespace

bool FollowsRules(const Instruction& made) {
  for (const Instruction* operand : made.operands())
    if (!operand->shape().IsArray()) return false;
  const absl::StatusOr<Shape> inferred = InferShape(made);
  return inferred.ok() && SameIgnoringLayout(*inferred, made.shape());
}

Instruction* Simplified(BodyConverter& body, Instruction* made) {
  TakeLayout(*made);  // before its shape is referred to: this may replace it
  const Shape& shape = made->shape();
  if (!shape.IsArray() || made->IsConstant()) return made;
  const bool is_static = !shape.HasDynamicDims();
  if (is_static && shape.ElementCount() == 0 &&
      (IsPure(*made) || made->opcode() == Opcode::kReduce) && FollowsRules(*made))
    return body.Add(Opcode::kConstant, shape.WithDefaultLayout(), {},
                    ConstantAttrs{std::make_shared<const Literal>(shape.WithDefaultLayout())});
  if (!HasRule(made->opcode()) || !FollowsRules(*made)) return made;
  if (is_static)
    if (Instruction* folded = Fold(body, *made)) return folded;
  switch (made->opcode()) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMulhi:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kXor:
      return made->operand_count() == 2 ? SimplifyCommutative(body, made) : made;
    case Opcode::kBroadcast:
      return is_static ? SimplifyBroadcast(body, made) : made;
    case Opcode::kCompare:
      return SimplifyCompare(made);
    case Opcode::kConcatenate:
      return is_static ? SimplifyConcatenate(body, made) : made;
    case Opcode::kConvert:
      return SameIgnoringLayout(shape, made->operand(0)->shape()) ? made->operand(0) : made;
    case Opcode::kDynamicUpdateSlice:
      return is_static ? SimplifyUpdate(made) : made;
    case Opcode::kImag:
    case Opcode::kReal:
      return SimplifyPart(made);
    case Opcode::kIota:
      return SimplifyIota(body, made);
    case Opcode::kPad:
      return is_static ? SimplifyPad(made) : made;
    case Opcode::kReduce:
      return SimplifyReduce(body, made);
    case Opcode::kSelect:
      return SimplifySelect(body, made);
    case Opcode::kReshape:
      return SimplifyReshape(body, made);
    case Opcode::kReverse:
      return SimplifyReverse(made);
    case Opcode::kSlice:
      return SimplifySlice(body, made);
    case Opcode::kSubtract:
      return SimplifySubtract(body, made);
    case Opcode::kTranspose:
      return SimplifyTranspose(body, made);
    default:
      return made;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
