// Custom calls that every platform knows.
#include "generator/scope_internal.h"

namespace hlokit {
namespace {

CustomCallAttrs Target(const char* target) {
  CustomCallAttrs attributes;
  attributes.target = target;
  return attributes;
}

}  // namespace

// Calls that pass their operand on.
void MarkerCall(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const Shape shape = x.shape().WithoutLayout();
  const char* const target = s.random().OneOf(
      {"Sharding", "LayoutConstraint", "MoveToHost", "MoveToDevice", "annotate_device_placement"});
  s.Keep(s.Make(Opcode::kCustomCall, {x.instruction}, Target(target), &shape), x.bounds);
}

void TopKCall(GeneratedCode& s) {
  const ElementType type =
      s.random().OneOf({ElementType::kF32, ElementType::kBF16, ElementType::kS32});
  const RandomValue x = s.GetAny(type, /*exact=*/true);
  if (x.shape().rank() == 0) return;
  Shape values = x.shape().WithoutLayout();
  values.dims.back() = s.random().Between(0, values.dims.back());
  const Shape declared = Shape::Tuple({values, values.WithType(ElementType::kS32)});
  s.KeepElements(s.Make(Opcode::kCustomCall, {x.instruction}, Target("TopK"), &declared),
                 {x.bounds, {}});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
