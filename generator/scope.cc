// Values of a generated computation: a step asks for an operand of some type and shape, and gets
// one of the existing values where one fits (most of the time, so that graphs are connected), else
// a new parameter, broadcast, convert or constant.
//
// Every float value has bounds: a range that it lies in and a bound on the error between any two
// correct executions (bounds.h). Keep() drops values whose error has grown useless and clamps those
// whose range has. Shapes are inferred by ops/; an operation that inference refuses is dropped and
// counted, so that a recipe that never succeeds shows in the tests.
#include "generator/scope_internal.h"

#include <algorithm>
#include <cmath>

#include "ops/infer/op_table.h"
#include "support/status.h"
#include "types/number_literal.h"

namespace hlokit {
namespace {

constexpr double kRange = 2;  // of constants, and of what is clamped
constexpr int64_t kMaxEntryParameters = 8;

// How often each element type is asked for.
constexpr std::pair<ElementType, int> kTypeWeights[] = {
    {ElementType::kF32, 30},       {ElementType::kS32, 16},       {ElementType::kPred, 8},
    {ElementType::kF64, 8},        {ElementType::kBF16, 8},       {ElementType::kF16, 6},
    {ElementType::kS64, 4},        {ElementType::kU32, 4},        {ElementType::kS8, 4},
    {ElementType::kU8, 4},         {ElementType::kS16, 2},        {ElementType::kU16, 2},
    {ElementType::kU64, 3},        {ElementType::kC64, 3},        {ElementType::kC128, 2},
    {ElementType::kS4, 2},         {ElementType::kU4, 2},         {ElementType::kS2, 1},
    {ElementType::kU2, 1},         {ElementType::kS1, 1},         {ElementType::kU1, 1},
    {ElementType::kF8E5M2, 1},     {ElementType::kF8E4M3FN, 1},   {ElementType::kF8E4M3B11FNUZ, 1},
    {ElementType::kF8E5M2FNUZ, 1}, {ElementType::kF8E4M3FNUZ, 1}, {ElementType::kF8E4M3, 1},
    {ElementType::kF8E3M4, 1},     {ElementType::kF4E2M1FN, 1},   {ElementType::kF8E8M0FNU, 1},
};

constexpr double kStayInChain = 0.7;  // how likely a step of a chain takes what the last one kept

// A type at random by its weight.
ElementType PickType(Random& random, bool (*allowed)(ElementType)) {
  int total = 0;
  for (const auto& [type, weight] : kTypeWeights) total += allowed(type) ? weight : 0;
  int64_t at = random.Between(0, total - 1);
  for (const auto& [type, weight] : kTypeWeights)
    if (allowed(type) && (at -= weight) < 0) return type;
  return ElementType::kF32;
}

// One value in four is an edge: 0, -1, the extremes, or random bits.
void SetRandomInteger(Random& random, Literal& literal, int64_t i) {
  const int bits = BitWidth(literal.type());
  const uint64_t top = uint64_t{1} << std::max(0, bits - 1);
  switch (random.Between(0, 7)) {
    case 0:
      return literal.SetInt(
          i, static_cast<int64_t>(random.OneOf({uint64_t{0}, ~uint64_t{0}, top, top - 1})));
    case 1:
      return literal.SetInt(i, static_cast<int64_t>(random.Bits()));
    default:
      return literal.SetInt(i, random.Between(IsUnsigned(literal.type()) ? 0 : -4, 9));
  }
}

}  // namespace

bool IsArithmeticFloat(ElementType type) {
  return IsFloat(type) && type != ElementType::kF8E8M0FNU;
}

int64_t CountOf(absl::Span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

std::vector<Instruction*> InstructionsOf(const Values& values) {
  std::vector<Instruction*> instructions;
  for (const RandomValue& value : values) instructions.push_back(value.instruction);
  return instructions;
}

std::vector<Bounds> BoundsOf(const Values& values) {
  std::vector<Bounds> bounds;
  for (const RandomValue& value : values) bounds.push_back(value.bounds);
  return bounds;
}

std::unique_ptr<Instruction> GeneratedCode::Start(Opcode opcode,
                                                  absl::Span<Instruction* const> operands,
                                                  const Shape* declared) {
  return std::make_unique<Instruction>(opcode, declared != nullptr ? *declared : Shape(), operands);
}

Instruction* GeneratedCode::Make(Opcode opcode, absl::Span<Instruction* const> operands,
                                 const Shape* declared) {
  return Finish(Start(opcode, operands, declared));
}

// The instruction with its inferred shape; null, with the refusal kept, where inference refuses it.
Instruction* GeneratedCode::Finish(std::unique_ptr<Instruction> made) {
  std::vector<const Shape*> shapes;
  for (const Instruction* operand : made->operands()) shapes.push_back(&operand->shape());
  const bool declared = made->shape().type != ElementType::kInvalid;
  auto shape = InferShape(OpView(made->opcode(), shapes, made->attributes(), made->called(),
                                 declared ? &made->shape() : nullptr));
  if (shape.ok()) {
    made->set_shape(WithSomeLayout(*shape));
    return computation_.Add(std::move(made));
  }
  state_.refusals.push_back(std::string(shape.status().message()));
  while (made->operand_count() > 0) made->RemoveOperand(made->operand_count() - 1);
  return nullptr;
}

// Fused computations keep default layouts, since XLA gives their instructions none of their own.
Shape GeneratedCode::WithSomeLayout(const Shape& shape) {
  Shape result = shape.WithDefaultLayout();
  if (!shape.IsArray() || shape.rank() < 2 || kind_ == Kind::kFused ||
      !random().Chance(state_.options.odd_layouts))
    return result;
  random().Shuffle(result.layout.minor_to_major);
  return result;
}

void GeneratedCode::Keep(Instruction* instruction, Bounds bounds) {
  if (instruction == nullptr) return;
  const ElementType type = instruction->shape().type;
  RandomValue value{instruction, bounds};
  if (IsFloat(type) || IsComplex(type)) {
    if (!IsUseful(type, bounds)) return;
    if (bounds.Most() > MostUseful(type)) {
      if (IsComplex(type)) return;
      value = Tame(value, -kRange, kRange);
    }
  }
  values_.push_back(value);
  if (chain_.has_value()) chain_ = value;
}

void GeneratedCode::KeepElements(Instruction* tuple, const std::vector<Bounds>& bounds) {
  if (tuple == nullptr) return;
  for (size_t i = 0; i < bounds.size(); ++i) {
    Instruction* element = computation_.Add(Opcode::kGetTupleElement, tuple->shape().elements[i],
                                            {tuple}, GetTupleElementAttrs{static_cast<int64_t>(i)});
    Keep(element, bounds[i]);
  }
}

void GeneratedCode::ForgetFloats(size_t count) {
  const auto is_float = [](const RandomValue& value) { return IsFloat(value.type()); };
  values_.erase(
      std::remove_if(values_.begin() + static_cast<int64_t>(count), values_.end(), is_float),
      values_.end());
}

RandomValue GeneratedCode::AddParameter(const Shape& shape, const Bounds& bounds) {
  values_.push_back({computation_.AddParameter(computation_.parameter_count(), shape), bounds});
  return values_.back();
}

ElementType GeneratedCode::TypeOf(bool (*allowed)(ElementType)) {
  if (chain_.has_value() && allowed(chain_->type()) && random().Chance(kStayInChain))
    return chain_->type();
  return PickType(random(), allowed);
}
ElementType GeneratedCode::AnyType() {
  return TypeOf([](ElementType) { return true; });
}
ElementType GeneratedCode::FloatType() { return TypeOf(IsArithmeticFloat); }
ElementType GeneratedCode::IntegerType() { return TypeOf(IsInteger); }

DimVector GeneratedCode::NewDims(int least_rank, int most_rank) {
  constexpr int64_t kSizes[] = {1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33, 64, 130};
  constexpr double kEdges = 0.05;
  DimVector dims(random().Between(least_rank, most_rank));
  int64_t count = 1;
  for (int64_t& d : dims) {
    d = random().Chance(state_.options.empty_dims) ? 0
        : random().Chance(kEdges)                  ? EdgeSize()
                                                   : random().OneOf(kSizes);
    if (count * d > state_.options.max_elements) d = random().Between(1, 3);
    if (count * d > state_.options.max_elements) d = 1;
    count *= std::max<int64_t>(d, 1);
  }
  random().Shuffle(dims);
  return dims;
}

// Sizes at the boundaries of vectors, cache lines and tiles, where emitters switch between forms.
int64_t GeneratedCode::EdgeSize() {
  constexpr int64_t kEdges[] = {16, 32, 64, 64, 128, 128, 256, 256, 512, 1024};
  if (random().Chance(0.3)) return random().Between(1, 130);
  return random().OneOf(kEdges) + (random().Chance(0.5) ? 0 : random().Between(-1, 1));
}

DimVector GeneratedCode::AnyDims() {
  if (chain_.has_value() && random().Chance(kStayInChain)) return chain_->shape().dims;
  if (!values_.empty() && random().Chance(0.75)) return random().OneOf(values_).shape().dims;
  return NewDims(0, random().Chance(0.1) ? 6 : 3);
}

RandomValue GeneratedCode::Any() {
  if (chain_.has_value()) return *chain_;
  if (!values_.empty() && random().Chance(0.9)) return random().OneOf(values_);
  return GetAny(AnyType());
}

RandomValue GeneratedCode::Get(ElementType type, absl::Span<const int64_t> dims, bool exact) {
  if (chain_.has_value() && chain_->type() == type &&
      chain_->shape().dims == DimVector(dims.begin(), dims.end()) &&
      (!exact || chain_->bounds.Exact()) && random().Chance(kStayInChain))
    return *chain_;
  Values fitting;
  for (const RandomValue& value : values_)
    if (value.type() == type && value.shape().dims == DimVector(dims.begin(), dims.end()) &&
        (!exact || value.bounds.Exact()))
      fitting.push_back(value);
  if (!fitting.empty() && random().Chance(0.85)) return random().OneOf(fitting);
  RandomValue made = MakeValue(type, dims, exact);
  values_.push_back(made);
  return made;
}

RandomValue GeneratedCode::MakeValue(ElementType type, absl::Span<const int64_t> dims, bool exact) {
  const Shape shape = Shape::Array(type, dims);
  const bool e8m0 = type == ElementType::kF8E8M0FNU;  // holds no number that is not above 0
  if (kind_ == Kind::kEntry && !e8m0 && computation_.parameter_count() < kMaxEntryParameters &&
      random().Chance(0.6))
    return {computation_.AddParameter(computation_.parameter_count(), WithSomeLayout(shape)),
            {-1, 1, 0}};
  if (random().Chance(0.3)) {  // a scalar spread out
    Values scalars;
    for (const RandomValue& value : values_)
      if (value.type() == type && value.shape().rank() == 0 && (!exact || value.bounds.Exact()))
        scalars.push_back(value);
    const RandomValue scalar = scalars.empty() ? RandomConstant(type, {}) : random().OneOf(scalars);
    if (dims.empty()) return scalar;
    return {Spread(scalar.instruction, shape), scalar.bounds};
  }
  if (!values_.empty() && !e8m0 && !IsComplex(type) && random().Chance(0.4)) {  // of another type
    for (int tries = 0; tries < 4; ++tries) {
      const RandomValue from = random().OneOf(values_);
      if (from.shape().dims != shape.dims || IsComplex(from.type()) || IsFloat(from.type()))
        continue;
      if (!IsFloat(type)) return {Make(Opcode::kConvert, {from.instruction}, &shape), {}};
      Instruction* small =
          IsPred(from.type()) ? from.instruction : TameInteger(from.instruction, -2, 2);
      const double low = IsUnsigned(from.type()) || IsPred(from.type()) ? 0 : -2;
      return {Make(Opcode::kConvert, {small}, &shape), {low, 2, 0}};
    }
  }
  return RandomConstant(type, dims);
}

Instruction* GeneratedCode::Spread(Instruction* scalar, const Shape& shape) {
  const Shape dims = shape.WithoutLayout();
  return Make(Opcode::kBroadcast, {scalar}, &dims);
}

Instruction* GeneratedCode::Constant(Literal literal) {
  return computation_.AddConstant(std::move(literal));
}

Instruction* GeneratedCode::ScalarConstant(ElementType type, double value) {
  return Constant(NumberLiteral(type, value));
}

RandomValue GeneratedCode::RandomConstant(ElementType type, absl::Span<const int64_t> dims) {
  Literal literal(Shape::Array(type, dims));
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (IsComplex(type)) {
      literal.SetComplex(i, {random().Real(-kRange, kRange), random().Real(-kRange, kRange)});
    } else if (type == ElementType::kF8E8M0FNU) {
      literal.SetDouble(i, std::exp2(static_cast<double>(random().Between(-3, 3))));
    } else if (IsFloat(type)) {
      literal.SetDouble(i, random().Chance(0.2) ? static_cast<double>(random().Between(-2, 2))
                                                : random().Real(-kRange, kRange));
      if (literal.GetDouble(i) == 0) literal.SetDouble(i, 0);  // text reads -0 as 0
    } else {
      SetRandomInteger(random(), literal, i);
    }
  }
  const double most = type == ElementType::kF8E8M0FNU ? 8 : kRange;
  return {Constant(std::move(literal)), {-most, most, 0}};
}

// Clamps a value into [low, high]; as it is where its bounds, error included, lie inside.
RandomValue GeneratedCode::Tame(RandomValue value, double low, double high) {
  const Bounds& b = value.bounds;
  if (b.low - b.error >= low && b.high + b.error <= high) return value;
  const ElementType type = value.type();
  Instruction* clamped = Make(
      Opcode::kClamp, {ScalarConstant(type, low), value.instruction, ScalarConstant(type, high)});
  return {clamped, {low, high, std::min(b.error, high - low)}};
}

// The same for integers, with the limits cut to what the type holds.
Instruction* GeneratedCode::TameInteger(Instruction* value, int64_t low, int64_t high) {
  const ElementType type = value->shape().type;
  const int bits = std::min(BitWidth(type), 32);
  const int64_t top = (int64_t{1} << (IsSigned(type) ? bits - 1 : bits)) - 1;
  const int64_t bottom = IsSigned(type) ? -top - 1 : 0;
  return Make(Opcode::kClamp,
              {ScalarConstant(type, static_cast<double>(std::clamp(low, bottom, top))), value,
               ScalarConstant(type, static_cast<double>(std::clamp(high, bottom, top)))});
}

// A copy in row-major order where the layout is another: operands of calls must match parameters.
RandomValue GeneratedCode::Plain(RandomValue value) {
  if (value.shape().IsRowMajor()) return value;
  Instruction* copy =
      computation_.Add(Opcode::kCopy, value.shape().WithDefaultLayout(), {value.instruction});
  return {copy, value.bounds};
}

Computation* GeneratedCode::ScalarFunction(Opcode opcode, ElementType type) {
  Computation* made = module().AddComputation(absl::StrCat(Text(opcode), "_", Text(type)));
  const Shape scalar = Shape::Scalar(type).WithDefaultLayout();
  Instruction* x = made->AddParameter(0, scalar, "x");
  Instruction* y = made->AddParameter(1, scalar, "y");
  made->set_root(random().Chance(0.1) && HasTrait(opcode, kCommutative)
                     ? made->Add(opcode, scalar, {y, x})
                     : made->Add(opcode, scalar, {x, y}));
  return made;
}

Instruction* Compared(GeneratedCode& s, ComparisonDirection direction, Instruction* a,
                      Instruction* b) {
  return s.Make(Opcode::kCompare, {a, b}, CompareAttrs{direction, {}});
}

// Runs `steps` recipes, each chosen at random by its weight.
void GeneratedCode::Grow(int steps) {
  std::vector<const Recipe*> usable;
  int total = 0;
  for (const Recipe& recipe : Recipes()) {
    if (kind_ == Kind::kFused && !recipe.fused) continue;
    if (!state_.options.recipe.empty() && recipe.name != state_.options.recipe) continue;
    usable.push_back(&recipe);
    total += recipe.weight;
  }
  for (int step = 0; step < steps && total > 0; ++step) {
    int64_t at = random().Between(0, total - 1);
    for (const Recipe* recipe : usable) {
      if ((at -= recipe->weight) >= 0) continue;
      recipe->make(*this);
      break;
    }
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
