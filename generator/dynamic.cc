// Steps on arrays whose size only the run knows, with a static twin that must agree.
#include <algorithm>

#include "generator/dynamic_internal.h"
#include "generator/generator.h"

namespace hlokit {
namespace {

// An array with a dynamic dimension, and the same elements in an array of the bound's size.
struct Twins {
  Instruction* dynamic;
  Instruction* fixed;
  int64_t dimension;  // the dynamic one
};

Twins Unary(GeneratedCode& s, Opcode opcode, const Twins& of) {
  return {s.Make(opcode, {of.dynamic}), s.Make(opcode, {of.fixed}), of.dimension};
}

Twins Doubled(GeneratedCode& s, const Twins& of) {
  return {s.Make(Opcode::kMaximum, {of.dynamic, of.dynamic}),
          s.Make(Opcode::kMaximum, {of.fixed, of.fixed}), of.dimension};
}

Twins Transposed(GeneratedCode& s, const Twins& of) {
  DimVector order;
  for (int d = 0; d < of.fixed->shape().rank(); ++d) order.push_back(d);
  s.random().Shuffle(order);
  const int64_t place = std::find(order.begin(), order.end(), of.dimension) - order.begin();
  return {s.Make(Opcode::kTranspose, {of.dynamic}, DimensionsAttrs{order}),
          s.Make(Opcode::kTranspose, {of.fixed}, DimensionsAttrs{order}), place};
}

// [<=n] as [<=n,1].
Twins Reshaped(GeneratedCode& s, const Twins& of, Instruction* size) {
  const Shape& from = of.fixed->shape();
  if (from.rank() != 1) return of;
  const Shape shape = Shape::Array(from.type, {from.dims[0], 1});
  Shape dynamic = shape;
  dynamic.SetDynamic(0, true);
  const Shape* const declared = &dynamic;
  return {s.Make(Opcode::kDynamicReshape,
                 {of.dynamic, size, s.ScalarConstant(ElementType::kS32, 1)}, declared),
          s.Make(Opcode::kReshape, {of.fixed}, ReshapeAttrs{}, &shape), 0};
}

// `value` where the index along the dimension is below `size`, else `other`.
Instruction* Masked(GeneratedCode& s, Instruction* value, int64_t dimension, Instruction* size,
                    Instruction* other) {
  const Shape numbers = value->shape().WithoutLayout().WithType(ElementType::kS32);
  Instruction* index = s.Make(Opcode::kIota, {}, IotaAttrs{dimension}, &numbers);
  Instruction* limit = s.Spread(size, numbers);
  Instruction* inside =
      s.Make(Opcode::kCompare, {index, limit}, CompareAttrs{ComparisonDirection::kLt, {}});
  return s.Make(Opcode::kSelect, {inside, value, s.Spread(other, value->shape())});
}

Instruction* ReducedAlong(GeneratedCode& s, Instruction* value, Instruction* init,
                          int64_t dimension, Opcode reducer) {
  return s.MakeCalling(Opcode::kReduce, {value, init},
                       {s.ScalarFunction(reducer, value->shape().type)},
                       DimensionsAttrs{{dimension}});
}

}  // namespace

// Integers and maxima, so that the twins agree bit for bit.
void DynamicSizes(GeneratedCode& s) {
  if (!s.state().options.dynamic_shapes) return;
  if (s.random().Chance(0.6)) return DynamicChain(s);
  const ElementType type =
      s.random().OneOf({ElementType::kS32, ElementType::kF32, ElementType::kS64, ElementType::kS8});
  const RandomValue x = s.GetAny(type);
  if (x.shape().rank() == 0) return;
  const int64_t dimension = s.random().Between(0, x.shape().rank() - 1);
  Instruction* size =
      s.TameInteger(s.Get(ElementType::kS32, {}).instruction, 0, x.shape().dims[dimension]);
  Twins twins{
      s.Make(Opcode::kSetDimensionSize, {x.instruction, size}, DimensionsAttrs{{dimension}}),
      x.instruction, dimension};
  for (int64_t steps = s.random().Between(0, 3); steps > 0; --steps) {
    const int64_t kind = s.random().Between(0, 3);
    twins = kind == 0   ? Unary(s, Opcode::kNegate, twins)
            : kind == 1 ? Doubled(s, twins)
            : kind == 2 ? Transposed(s, twins)
                        : Reshaped(s, twins, size);
    if (twins.dynamic == nullptr || twins.fixed == nullptr) return;
  }
  Instruction* read =
      s.Make(Opcode::kGetDimensionSize, {twins.dynamic}, DimensionsAttrs{{twins.dimension}});
  const Opcode reducer = IsFloat(type) || s.random().Chance(0.5) ? Opcode::kMaximum : Opcode::kAdd;
  Instruction* init = s.ScalarConstant(type, reducer == Opcode::kAdd ? 0 : -100);
  Instruction* reduced = ReducedAlong(s, twins.dynamic, init, twins.dimension, reducer);
  Instruction* expected = ReducedAlong(s, Masked(s, twins.fixed, twins.dimension, read, init), init,
                                       twins.dimension, reducer);
  Instruction* agree =
      s.Make(Opcode::kCompare, {reduced, expected}, CompareAttrs{ComparisonDirection::kEq, {}});
  if (agree == nullptr) return;
  agree->set_name(s.module().UniqueName(kTwinsAgree));
  s.Keep(agree);
  s.Keep(read);
}

void StaticSize(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (x.shape().rank() == 0) return;
  s.Keep(s.Make(Opcode::kGetDimensionSize, {x.instruction},
                DimensionsAttrs{{s.random().Between(0, x.shape().rank() - 1)}}));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
