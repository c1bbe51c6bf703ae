// What XLA's conversion simplifies on its way from StableHLO to HLO, done here as each instruction
// is made:
//
//   add(constant, x)                     -> add(x, constant), and so each commutative operation
//   multiply(x, 1), x + 0, x - 0, x & -1 -> x
//   slice of the whole, pad by nothing   -> x
//   select by a predicate of one value   -> an operand
//   broadcast or slice of a splat        -> a splat
//   transpose(transpose(x))              -> one transpose; of dimensions of size 1 alone a reshape
//   iota over one of several dimensions  -> broadcast(iota of one dimension)
//   an array without elements            -> a constant
//   add(constant, constant)              -> a constant, up to kMaxFolded elements
//
// Instructions that go out of use here are dropped with all others at the end of the conversion.
//
// Limit: of the operations on constants those of kFolded alone are computed.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/infer/op_table.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// The scalar of which all elements of a constant are copies; null where they differ.
const Literal* SplatOf(const Instruction& i) {
  const Instruction& source = i.opcode() == Opcode::kBroadcast ? *i.operand(0) : i;
  if (!source.IsConstant() || source.literal() == nullptr || source.shape().ElementCount() != 1)
    return nullptr;
  return source.literal();
}

bool IsConstantLike(const Instruction& i) { return i.IsConstant() || SplatOf(i) != nullptr; }

bool IsSplatOf(const Instruction& i, double value) {
  const Literal* splat = SplatOf(i);
  return splat != nullptr && splat->GetComplex(0) == std::complex<double>(value);
}

// The layout of a transposed operand stays with what is computed element by element, as XLA infers
// shapes: that of the first operand.
void TakeLayout(Instruction& made) {
  if (made.operand_count() == 0) return;
  const Shape& from = made.operand(0)->shape();
  const bool follows = HasTrait(made.opcode(), kElementwise) && made.opcode() != Opcode::kSelect &&
                       made.opcode() != Opcode::kClamp;
  if (!follows && made.opcode() != Opcode::kReverse) return;
  if (!from.IsArray() || from.dims != made.shape().dims || from.IsRowMajor()) return;
  Shape shape = Shape::ArrayWithLayout(made.shape().type, from.dims, from.MinorToMajor());
  shape.dynamic_mask = made.shape().dynamic_mask;
  made.set_shape(std::move(shape));
}

Instruction* SimplifyCommutative(BodyConverter& body, Instruction* made) {
  Instruction *lhs = made->operand(0), *rhs = made->operand(1);
  if (IsConstantLike(*lhs) && !IsConstantLike(*rhs)) {
    std::swap(lhs, rhs);
    made = body.Add(made->opcode(), made->shape(), {lhs, rhs});
    TakeLayout(*made);
  }
  if (!SameIgnoringLayout(lhs->shape(), made->shape())) return made;
  if (made->opcode() == Opcode::kMultiply && IsSplatOf(*rhs, 1)) return lhs;
  if (made->opcode() == Opcode::kAdd && IsSplatOf(*rhs, 0)) return lhs;
  const bool is_signed = IsSigned(made->shape().type);
  if (made->opcode() == Opcode::kAnd && is_signed && IsSplatOf(*rhs, -1)) return lhs;
  return made;
}

Instruction* SimplifySubtract(Instruction* made) {
  const bool same = SameIgnoringLayout(made->operand(0)->shape(), made->shape());
  return same && IsSplatOf(*made->operand(1), 0) ? made->operand(0) : made;
}

// Arrays of more elements are left to be computed.
constexpr int64_t kMaxFolded = 65536;
constexpr Opcode kFolded[] = {
    Opcode::kAbs,    Opcode::kAdd,     Opcode::kAnd,     Opcode::kCompare,  Opcode::kConvert,
    Opcode::kDivide, Opcode::kMaximum, Opcode::kMinimum, Opcode::kMultiply, Opcode::kNegate,
    Opcode::kNot,    Opcode::kOr,      Opcode::kSelect,  Opcode::kSubtract, Opcode::kXor};

// The elements of a constant, those of a splat spelled out.
Literal ElementsOf(const Instruction& constant) {
  if (constant.IsConstant()) return *constant.literal();
  const Literal& splat = *SplatOf(constant);
  Literal all = Literal::Unset(constant.shape());
  for (int64_t i = 0; i < all.element_count(); ++i)
    std::memcpy(all.data() + i * splat.byte_size(), splat.data(), splat.byte_size());
  return all;
}

bool AllEqual(const Literal& literal) {
  const int64_t width = ByteWidth(literal.type());
  for (int64_t i = 1; i < literal.element_count(); ++i)
    if (std::memcmp(literal.data(), literal.data() + i * width, width) != 0) return false;
  return literal.element_count() > 0;
}

// f8e8m0fnu has no infinity, its highest bits are NaN; but where XLA's conversion computes a
// constant, MLIR's own conversion makes an infinity of them (XLA's compilers give NaN).
void NanToInfinity(Literal& converted) {
  if (!IsFloat(converted.type()) || converted.type() == ElementType::kF8E8M0FNU) return;
  for (int64_t i = 0; i < converted.element_count(); ++i)
    if (std::isnan(converted.GetDouble(i)))
      converted.SetDouble(i, std::numeric_limits<double>::infinity());
}

// The constant that an operation on constants gives; null where it is no such operation.
Instruction* Fold(BodyConverter& body, const Instruction& made) {
  if (std::find(std::begin(kFolded), std::end(kFolded), made.opcode()) == std::end(kFolded) ||
      made.shape().ElementCount() > kMaxFolded)
    return nullptr;
  for (const Instruction* operand : made.operands())
    if (!IsConstantLike(*operand) || operand->shape().ElementCount() > kMaxFolded) return nullptr;
  std::vector<Literal> values;
  for (const Instruction* operand : made.operands()) values.push_back(ElementsOf(*operand));
  std::vector<const Literal*> operands;
  for (const Literal& value : values) operands.push_back(&value);
  absl::StatusOr<Literal> result = Evaluate(EvalContext{made, operands, {}, 0, 0, nullptr});
  if (!result.ok()) return nullptr;
  if (made.opcode() == Opcode::kConvert && values[0].type() == ElementType::kF8E8M0FNU)
    NanToInfinity(*result);
  const Shape shape = made.shape().WithDefaultLayout();
  if (!AllEqual(*result))
    return body.Add(Opcode::kConstant, shape, {},
                    ConstantAttrs{std::make_shared<const Literal>(*result)});
  Literal scalar(Shape::Scalar(shape.type).WithDefaultLayout());
  std::memcpy(scalar.data(), result->data(), scalar.byte_size());
  return body.Splat(scalar, shape);
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

// As XLA infers it: the elements stay where they are, so that the operand's layout moves along.
void PermuteLayout(Instruction& transpose) {
  const DimVector& permutation = transpose.attr<DimensionsAttrs>().dimensions;
  const Shape& shape = transpose.shape();
  const int rank = shape.rank();
  DimVector places(rank), order;
  for (int i = 0; i < rank; ++i) places[permutation[i]] = i;
  for (const int64_t d : transpose.operand(0)->shape().MinorToMajor()) order.push_back(places[d]);
  Shape permuted = Shape::ArrayWithLayout(shape.type, shape.dims, order);
  permuted.dynamic_mask = shape.dynamic_mask;
  transpose.set_shape(std::move(permuted));
}

Instruction* SimplifyTranspose(BodyConverter& body, Instruction* made) {
  Instruction* operand = made->operand(0);
  DimVector permutation = made->attr<DimensionsAttrs>().dimensions;
  if (operand->shape().HasDynamicDims()) return made;
  if (const Literal* splat = SplatOf(*operand)) return body.Splat(*splat, made->shape());
  if (operand->opcode() == Opcode::kTranspose) {
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
  operand = operand->operand(0);
  if (SameIgnoringLayout(made->shape(), operand->shape())) return operand;
  return body.Add(Opcode::kReshape, made->shape(), {operand});
}

Instruction* SimplifyIota(BodyConverter& body, Instruction* made) {
  const int64_t dimension = made->attr<IotaAttrs>().iota_dimension;
  const Shape& shape = made->shape();
  if (shape.rank() < 2 || shape.HasDynamicDims() || dimension < 0 || dimension >= shape.rank())
    return made;
  if (shape.dims[dimension] == 1) return body.Splat(0.0, shape);
  Instruction* line =
      body.Add(Opcode::kIota, Shape::Array(shape.type, {shape.dims[dimension]}).WithDefaultLayout(),
               {}, IotaAttrs{0});
  if (shape.ElementCount() == shape.dims[dimension])
    return body.Add(Opcode::kReshape, shape, {line});
  return body.Add(Opcode::kBroadcast, shape, {line}, BroadcastAttrs{{dimension}});
}

Instruction* SimplifySlice(BodyConverter& body, Instruction* made) {
  Instruction* operand = made->operand(0);
  if (operand->shape().HasDynamicDims()) return made;
  if (SameIgnoringLayout(made->shape(), operand->shape())) return operand;
  const Literal* splat = SplatOf(*operand);
  return splat == nullptr ? made : body.Splat(*splat, made->shape());
}

// A predicate of which all elements are equal chooses an operand.
Instruction* SimplifySelect(Instruction* made) {
  const Literal* splat = SplatOf(*made->operand(0));
  if (splat == nullptr) return made;
  Instruction* chosen = made->operand(splat->GetInt(0) != 0 ? 1 : 2);
  return SameIgnoringLayout(chosen->shape(), made->shape()) ? chosen : made;
}

Instruction* SimplifyPad(Instruction* made) {
  const PaddingConfig& padding = made->attr<PadAttrs>().padding;
  const bool none = std::all_of(padding.begin(), padding.end(),
                                [](const PaddingDim& d) { return d == PaddingDim(); });
  return none ? made->operand(0) : made;
}

// Of no elements the first value is left.
Instruction* SimplifyReduce(BodyConverter& body, Instruction* made) {
  const Shape& from = made->operand(0)->shape();
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

// Whether the rules of its operation hold of an instruction, so that the shape is the one that they
// give: a damaged program is told so when the module is verified, and left alone here.
bool FollowsRules(const Instruction& made) {
  for (const Instruction* operand : made.operands())
    if (!operand->shape().IsArray()) return false;
  const absl::StatusOr<Shape> inferred = InferShape(made);
  return inferred.ok() && SameIgnoringLayout(*inferred, made.shape());
}

// Whether there is a rule here for the opcode, or for constants of it.
bool HasRule(Opcode opcode) {
  static constexpr Opcode kOthers[] = {Opcode::kIota,    Opcode::kPad,   Opcode::kReduce,
                                       Opcode::kReshape, Opcode::kSlice, Opcode::kTranspose};
  return std::find(std::begin(kOthers), std::end(kOthers), opcode) != std::end(kOthers) ||
         std::find(std::begin(kFolded), std::end(kFolded), opcode) != std::end(kFolded) ||
         HasTrait(opcode, kElementwise) || opcode == Opcode::kReverse;
}

// Without effects and without computations that might have some.
bool IsPure(const Instruction& i) {
  return !i.HasSideEffect() && i.called().empty() && i.opcode() != Opcode::kCustomCall &&
         !i.IsParameter();
}

}  // namespace

Instruction* Simplified(BodyConverter& body, Instruction* made) {
  const Shape& shape = made->shape();
  if (!shape.IsArray() || made->IsConstant()) return made;
  const bool is_static = !shape.HasDynamicDims();
  if (is_static && shape.ElementCount() == 0 &&
      (IsPure(*made) || made->opcode() == Opcode::kReduce) && FollowsRules(*made))
    return body.Add(Opcode::kConstant, shape.WithDefaultLayout(), {},
                    ConstantAttrs{std::make_shared<const Literal>(shape.WithDefaultLayout())});
  if (!HasRule(made->opcode()) || !FollowsRules(*made)) return made;
  TakeLayout(*made);
  if (is_static)
    if (Instruction* folded = Fold(body, *made)) return folded;
  switch (made->opcode()) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kXor:
      return made->operand_count() == 2 ? SimplifyCommutative(body, made) : made;
    case Opcode::kCompare:
      return SimplifyCompare(made);
    case Opcode::kConvert:
      return SameIgnoringLayout(shape, made->operand(0)->shape()) ? made->operand(0) : made;
    case Opcode::kIota:
      return SimplifyIota(body, made);
    case Opcode::kPad:
      return is_static ? SimplifyPad(made) : made;
    case Opcode::kReduce:
      return SimplifyReduce(body, made);
    case Opcode::kSelect:
      return SimplifySelect(made);
    case Opcode::kReshape:
      return SimplifyReshape(body, made);
    case Opcode::kSlice:
      return SimplifySlice(body, made);
    case Opcode::kSubtract:
      return SimplifySubtract(made);
    case Opcode::kTranspose:
      return SimplifyTranspose(body, made);
    default:
      return made;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
