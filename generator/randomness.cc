// Steps that draw random numbers: bits that a state fixes, and numbers of which only the range is
// known.
#include "generator/scope_internal.h"

namespace hlokit {

void RandomBits(GeneratedCode& s) {
  const RngAlgorithm algorithm =
      s.random().OneOf({RngAlgorithm::kThreeFry, RngAlgorithm::kPhilox, RngAlgorithm::kDefault});
  const int64_t words = algorithm == RngAlgorithm::kThreeFry ? 2 : s.random().Between(2, 3);
  const RandomValue state = s.Plain(s.Get(ElementType::kU64, {words}));
  const ElementType type =
      s.random().OneOf({ElementType::kU8, ElementType::kU16, ElementType::kU32, ElementType::kU64,
                        ElementType::kS32, ElementType::kS8, ElementType::kS16, ElementType::kS64});
  const Shape declared = Shape::Tuple({state.shape(), Shape::Array(type, s.AnyDims())});
  s.KeepElements(s.Make(Opcode::kRngBitGenerator, {state.instruction},
                        RngBitGeneratorAttrs{algorithm}, &declared),
                 {{}, {}});
}

// Each execution has its own numbers, but all lie in [-1, 3], or are finite.
void RandomNumbers(GeneratedCode& s) {
  const ElementType type = s.random().OneOf(
      {ElementType::kF32, ElementType::kF64, ElementType::kS32, ElementType::kS64});
  const Shape shape = Shape::Array(type, s.AnyDims());
  const bool normal = IsFloat(type) && s.random().Chance(0.4);
  Instruction* low = s.ScalarConstant(type, -1);
  Instruction* high = s.ScalarConstant(type, 3);
  Instruction* numbers =
      s.Make(Opcode::kRng, {low, high},
             RngAttrs{normal ? RngDistribution::kNormal : RngDistribution::kUniform}, &shape);
  if (numbers == nullptr) return;
  if (normal) return s.Keep(s.Make(Opcode::kIsFinite, {numbers}));
  using D = ComparisonDirection;
  Instruction* above = Compared(s, D::kGe, numbers, s.Spread(low, shape));
  Instruction* below = Compared(s, D::kLe, numbers, s.Spread(high, shape));
  s.Keep(s.Make(Opcode::kAnd, {above, below}));
}

// The module's own state moves on by at least what it was told to.
void RandomState(GeneratedCode& s) {
  const RngStateAttrs attributes{s.random().Between(1, 9)};
  Instruction* before = s.Make(Opcode::kRngGetAndUpdateState, {}, attributes);
  Instruction* after = s.Make(Opcode::kRngGetAndUpdateState, {}, attributes);
  if (before == nullptr || after == nullptr) return;
  after->AddControlPredecessor(before);
  Instruction* moved = s.Make(Opcode::kSubtract, {after, before});
  Literal least(Shape::Array(ElementType::kU64, {2}));
  least.SetInt(0, attributes.delta);
  s.Keep(Compared(s, ComparisonDirection::kGe, moved, s.Constant(std::move(least))));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
