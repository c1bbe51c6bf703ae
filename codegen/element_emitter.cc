// Emits one element of an instruction's result as LLVM IR: recursively, operands first, at the
// indices that data movement asks for. Leaves (operands of the kernel) are loads.
//
// Values are memoized per scope: an instruction that is used twice at the same index is computed
// once. A scope is a loop iteration or a branch; values of outer scopes are visible inside, not the
// reverse. The recursion is what fusion means here: exp(x + y) in one loop is a load, a load, an
// add and an exp.
#include "codegen/element_emitter.h"

#include <algorithm>

#include "analysis/in_place.h"
#include "codegen/math/functions.h"
#include "codegen/op_cost.h"
#include "ir/op_facts.h"

namespace hlokit {
namespace {

// Elements of a small array that one vector holds.
constexpr int64_t kMaxTogether = 16;

// A lone value may branch, which vectors cannot.
ScalarValue EmitQuickTrig(Builder& b, Opcode opcode, const ScalarValue& x) {
  const Val angle(b, x.re);
  const bool sine = opcode == Opcode::kSine;
  return {EmitIfElse(
      b, (Abs(angle) < kTrigBound).get(),
      [&] { return Values{(sine ? BoundedSin(angle) : BoundedCos(angle)).get()}; },
      [&] { return Values{(sine ? Sin(angle) : Cos(angle)).get()}; })[0]};
}

}  // namespace

llvm::Value* ElementPointer(Builder& b, const ArrayRef& array, const ElementIndex& index) {
  llvm::Value* offset = LinearOffset(b, index, array.shape);
  if (IsComplex(array.shape.type)) offset = Scale(b, offset, 2);
  llvm::Type* type = MemoryType(b.getContext(), RealComponent(array.shape.type));
  return b.CreateInBoundsGEP(type, array.base, offset);
}

ScalarValue LoadFrom(Builder& b, const ArrayRef& array, const ElementIndex& index) {
  return LoadElement(b, array.shape.type, ElementPointer(b, array, index), array.never_written);
}

void StoreTo(Builder& b, const ArrayRef& array, const ElementIndex& index, ScalarValue value) {
  StoreElement(b, array.shape.type, value, ElementPointer(b, array, index));
}

const ElementEmitter::Function ElementEmitter::kFunctions[kOpcodeCount] = {
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, emit, ...) \
  &Call<&ElementEmitter::Emit##emit>,
#include "ir/ops.def"
#undef HLO_OP
};

void ElementEmitter::Bind(const Instruction* leaf, ArrayRef array) {
  arrays_[leaf] = std::move(array);
}
void ElementEmitter::Bind(const Instruction* leaf, Generator generator) {
  generators_[leaf] = [generator = std::move(generator)](const ElementIndex& index) {
    return std::vector<ScalarValue>{generator(index)};
  };
}
void ElementEmitter::BindParts(const Instruction* leaf, PartsGenerator generator) {
  generators_[leaf] = std::move(generator);
}

ElementType ElementEmitter::TypeOf(const Shape& shape) const {
  const bool narrow = IsFloat(shape.type) && shape.type != ElementType::kF64;
  const bool as_float = (wide_ && narrow) || (excess_ && shape.type == ElementType::kBF16);
  return as_float ? ElementType::kF32 : shape.type;
}

ScalarValue ElementEmitter::Emit(const Instruction* i, const ElementIndex& index, int64_t leaf) {
  while ((i->opcode() == Opcode::kGetTupleElement || i->opcode() == Opcode::kTuple) &&
         !IsBound(i)) {
    if (i->opcode() == Opcode::kTuple) {
      i = i->operand(leaf);
      leaf = 0;
      continue;
    }
    leaf = i->tuple_index();
    i = i->operand(0);
  }
  return EmitAll(i, index)[leaf];
}

ScalarValue ElementEmitter::EmitRounded(const Instruction* i, const ElementIndex& index,
                                        int64_t leaf) {
  const ScalarValue value = Emit(i, index, leaf);
  const Shape& shape = i->shape().IsTuple() ? i->shape().elements[leaf] : i->shape();
  const bool kept = excess_ && i->shape().IsArray() && shape.type == ElementType::kBF16 &&
                    !HasExcess(i);  // rounded where it was made
  const bool exact = wide_ || kept || arrays_.contains(i) || i->IsConstant();
  if (!exact && plain_nans_ && TypeOf(shape) != shape.type && shape.type == ElementType::kBF16)
    return EmitRoundOwnResult(b_, shape.type, value);
  return exact ? value : EmitConvert(b_, TypeOf(shape), shape.type, value);
}

ElementEmitter::Results ElementEmitter::EmitAll(const Instruction* i, const ElementIndex& index) {
  Key key{i, index};
  for (const auto& scope : scopes_)
    if (auto found = scope.find(key); found != scope.end()) return found->second;
  Results results = Compute(i, index);
  scopes_.back().emplace(std::move(key), results);
  return results;
}

ElementEmitter::Results ElementEmitter::Compute(const Instruction* i, const ElementIndex& index) {
  // A parameter's loads are of the instruction that asks for them.
  if (!notes_ || i->opcode() == Opcode::kParameter) return ComputeUnnoted(i, index);
  const Instruction* const outer = std::exchange(noted_, i);
  const InstructionNote note(b_, i, outer);
  Results results = ComputeUnnoted(i, index);
  noted_ = outer;
  return results;
}

ElementEmitter::Results ElementEmitter::ComputeUnnoted(const Instruction* i,
                                                       const ElementIndex& index) {
  if (auto found = generators_.find(i); found != generators_.end()) return found->second(index);
  if (auto found = arrays_.find(i); found != arrays_.end())
    return {LoadFrom(b_, found->second, index)};
  Results values = kFunctions[static_cast<size_t>(i->opcode())](*this, i, index);
  if (values.size() == 1 && !values[0]) {
    // A type that the op does not take: refused by name once the kernel is done.
    if (unsupported_ != nullptr && *unsupported_ == nullptr) *unsupported_ = i;
    values[0] = ZeroElement(b_, i->shape().type);
  }
  return values;
}

ElementIndex ElementEmitter::Convey(const Instruction* i, const Shape& operand,
                                    const ElementIndex& index) {
  if (operand.IsScalar() && !i->shape().IsScalar()) return ElementIndex::Multi({});
  if (!index.has_multi || index.linear == nullptr) {
    // A position in memory means the same element only under the same memory order.
    if (index.linear != nullptr && !IsBitcast(operand, i->shape()))
      return ElementIndex::Multi(WithMulti(b_, index, i->shape()).multi);
    return index;
  }
  if (operand.MinorToMajor() == i->shape().MinorToMajor()) return index;
  return ElementIndex::Multi(index.multi);
}

bool ElementEmitter::RoundsAtOnce(const Instruction* i) const {
  if (!excess_ || wide_ || i->shape().type != ElementType::kBF16 || !IsQuickInBF16(i->opcode()))
    return false;
  return std::none_of(i->users().begin(), i->users().end(),
                      [](const Instruction* user) { return user->opcode() == Opcode::kConvert; });
}

bool ElementEmitter::HasExcess(const Instruction* i) const {
  for (;; i = i->operand(0)) {
    if (RoundsAtOnce(i) || rounded_.contains(i)) return false;
    if (TypeOf(i->shape()) == i->shape().type || arrays_.contains(i)) return false;
    if (HasTrait(i->opcode(), kExact)) return false;
    switch (i->opcode()) {
      case Opcode::kConstant:
      case Opcode::kParameter:  // of a function: what it is applied to is taken as it is rounded
        return false;
      case Opcode::kBitcast:
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kReverse:
      case Opcode::kSlice:
      case Opcode::kTranspose:
        continue;
      default:
        return true;
    }
  }
}

ScalarValue ElementEmitter::Operand(const Instruction* i, int64_t o, const ElementIndex& index) {
  const Instruction* operand = i->operand(o);
  const ElementIndex at = Convey(i, operand->shape(), index);
  const bool widens = i->opcode() == Opcode::kConvert && i->shape().type == ElementType::kF32 &&
                      HasTrait(operand->opcode(), kElementwise);
  return widens ? Emit(operand, at) : EmitTaken(operand, at);
}

ScalarValue ElementEmitter::EmitTaken(const Instruction* i, const ElementIndex& index) {
  if (!excess_ || wide_ || !HasExcess(i)) return Emit(i, index);
  return EmitConvert(b_, i->shape().type, TypeOf(i->shape()), EmitRounded(i, index));
}

ScalarValue ElementEmitter::RoundedOperand(const Instruction* i, int64_t o,
                                           const ElementIndex& index) {
  const Instruction* operand = i->operand(o);
  return EmitRounded(operand, Convey(i, operand->shape(), index));
}

// What the program rounds stays rounded, as in XLA; only results of arithmetic keep their excess.
ScalarValue ElementEmitter::EmitFloatConvert(const Instruction* i, ScalarValue x) {
  const ElementType from = TypeOf(i->operand(0)->shape()), to = i->shape().type;
  return EmitConvert(b_, to, TypeOf(i->shape()), EmitConvert(b_, from, to, x));
}

ScalarValue ElementEmitter::EmitNone(const Instruction* i, const ElementIndex&) {
  CHECK(false) << "no array is bound to %" << i->name();
  return {};
}

ScalarValue ElementEmitter::EmitPassThrough(const Instruction* i, const ElementIndex& index) {
  return Emit(i->operand(0), index);
}

ScalarValue ElementEmitter::EmitCopy(const Instruction* i, const ElementIndex& index) {
  return Operand(i, 0, index);
}

ScalarValue ElementEmitter::EmitConvertElement(const Instruction* i, const ElementIndex& index) {
  if (IsFloat(i->shape().type)) return EmitFloatConvert(i, Operand(i, 0, index));
  return EmitConvert(b_, i->operand(0)->shape().type, TypeOf(i->shape()),
                     RoundedOperand(i, 0, index));
}

// Functions with jumps, where excess digits of the operand would show.
ScalarValue ElementEmitter::EmitDiscontinuous(const Instruction* i, const ElementIndex& index) {
  return EmitUnary(b_, i->opcode(), i->operand(0)->shape().type, RoundedOperand(i, 0, index));
}

ScalarValue ElementEmitter::EmitReducePrecisionElement(const Instruction* i,
                                                       const ElementIndex& index) {
  const auto& bits = i->attr<ReducePrecisionAttrs>();
  return EmitReducePrecision(b_, i->operand(0)->shape().type, bits.exponent_bits,
                             bits.mantissa_bits, RoundedOperand(i, 0, index));
}

ScalarValue ElementEmitter::EmitCompareElement(const Instruction* i, const ElementIndex& index) {
  const auto& how = i->attr<CompareAttrs>();
  const ScalarValue x = RoundedOperand(i, 0, index);
  return EmitCompare(b_, how.direction, how.type, i->operand(0)->shape().type, x,
                     RoundedOperand(i, 1, index));
}

ScalarValue ElementEmitter::EmitSelectElement(const Instruction* i, const ElementIndex& index) {
  const ScalarValue condition = Operand(i, 0, index);
  const ScalarValue yes = Operand(i, 1, index);
  return EmitSelect(b_, condition, yes, Operand(i, 2, index));
}

ScalarValue ElementEmitter::EmitClampElement(const Instruction* i, const ElementIndex& index) {
  const ScalarValue low = Operand(i, 0, index);
  const ScalarValue x = Operand(i, 1, index);
  return EmitClamp(b_, TypeOf(i->operand(1)->shape()), low, x, Operand(i, 2, index));
}

bool ElementEmitter::ComputesTogether(const Instruction* i, ElementType type,
                                      const ElementIndex& index) const {
  if (!unroll_ || i->operand_count() != 1 || FunctionCost(Facts(i->opcode()).cost) == 0 ||
      (type != ElementType::kF32 && type != ElementType::kF64) || index.linear != nullptr)
    return false;
  if (i->opcode() == Opcode::kSine || i->opcode() == Opcode::kCosine) return false;  // they branch
  const bool known = std::all_of(index.multi.begin(), index.multi.end(), [](llvm::Value* value) {
    return llvm::isa<llvm::ConstantInt>(value);
  });
  const int64_t count = i->shape().ElementCount();
  return known && count > 1 && count <= kMaxTogether;
}

// f32[3] exponential(x): one function of <x0, x1, x2, x0>, whose code is as long as that of one
// element. All are remembered; the values are those of one by one.
ScalarValue ElementEmitter::EmitTogether(const Instruction* i, ElementType type,
                                         const ElementIndex& index) {
  const Shape& shape = i->shape();
  std::vector<ElementIndex> places;
  std::vector<llvm::Value*> values;
  for (int64_t k = 0; k < shape.ElementCount(); ++k) {
    places.push_back(ElementIndex::Multi(ConstantIndex(b_, shape, k)));
    values.push_back(Operand(i, 0, places.back()).re);
  }
  const auto lanes = static_cast<unsigned>(llvm::PowerOf2Ceil(values.size()));
  llvm::Value* all =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(values[0]->getType(), lanes));
  for (unsigned k = 0; k < lanes; ++k)
    all = b_.CreateInsertElement(all, values[k < values.size() ? k : 0], k);
  llvm::Value* const results = EmitUnary(b_, i->opcode(), type, {all}).re;
  ScalarValue wanted;
  for (size_t k = 0; k < places.size(); ++k) {
    const ScalarValue value = {b_.CreateExtractElement(results, k)};
    if (places[k] == index) wanted = value;
    scopes_.back().emplace(Key{i, std::move(places[k])}, Results{value});
  }
  return wanted;
}

// Functions of one or two numbers of the same type.
ScalarValue ElementEmitter::EmitArithmetic(const Instruction* i, const ElementIndex& index) {
  const ElementType type = RoundsAtOnce(i) ? i->shape().type : TypeOf(i->operand(0)->shape());
  if (ComputesTogether(i, type, index)) return EmitTogether(i, type, index);
  const ScalarValue x = Operand(i, 0, index);
  if (unroll_ && type == ElementType::kF32 &&
      (i->opcode() == Opcode::kSine || i->opcode() == Opcode::kCosine))
    return EmitQuickTrig(b_, i->opcode(), x);
  if (i->operand_count() == 1) return EmitUnary(b_, i->opcode(), type, x);
  const ScalarValue y = Operand(i, 1, index);
  const bool fuses = (type == ElementType::kF32 || type == ElementType::kF64) &&
                     (i->opcode() == Opcode::kAdd || i->opcode() == Opcode::kSubtract ||
                      i->opcode() == Opcode::kMultiply);
  // As XLA's CPU: a multiplication and an addition of the module may become one fused step, which
  // rounds once.
  llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  if (fuses) {
    llvm::FastMathFlags flags = b_.getFastMathFlags();
    flags.setAllowContract();
    b_.setFastMathFlags(flags);
  }
  if (excess_ && i->opcode() == Opcode::kDivide && i->shape().type == ElementType::kBF16) {
    // Far more exact than bf16: a divisor that stays the same in a loop is inverted before it.
    llvm::FastMathFlags flags = b_.getFastMathFlags();
    flags.setAllowReciprocal();
    b_.setFastMathFlags(flags);
  }
  return EmitBinary(b_, i->opcode(), type, x, y);
}

std::vector<ScalarValue> ElementEmitter::Apply(const Computation& function,
                                               absl::Span<const ScalarValue> arguments) {
  ElementEmitter inner(b_);
  inner.set_wide(wide_);
  inner.set_excess(excess_);
  inner.set_unroll(unroll_);
  inner.set_unsupported(unsupported_);
  for (int64_t p = 0; p < function.parameter_count(); ++p) {
    const ScalarValue value = arguments[p];
    inner.Bind(function.parameter(p), [value](const ElementIndex&) { return value; });
  }
  const ElementIndex nowhere = ElementIndex::Multi({});
  const Instruction* root = function.root();
  if (!root->shape().IsTuple()) return {inner.Emit(root, nowhere)};
  Results results;
  for (size_t k = 0; k < root->shape().elements.size(); ++k)
    results.push_back(inner.Emit(root, nowhere, k));
  return results;
}

Values Flatten(absl::Span<const ScalarValue> parts) {
  Values flat;
  for (const ScalarValue& part : parts) {
    flat.push_back(part.re);
    if (part.im != nullptr) flat.push_back(part.im);
  }
  return flat;
}

std::vector<ScalarValue> Unflatten(const Values& values, absl::Span<const ScalarValue> like) {
  std::vector<ScalarValue> parts;
  size_t next = 0;
  for (const ScalarValue& part : like) {
    ScalarValue value{values[next++]};
    if (part.im != nullptr) value.im = values[next++];
    parts.push_back(value);
  }
  return parts;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
