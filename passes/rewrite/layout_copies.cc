// Tuples are copied element by element.
#include "passes/rewrite/layout_copies.h"

#include "analysis/in_place.h"

namespace hlokit {
namespace {

Shape WithSomeLayout(const Shape& shape) {
  return shape.IsArray() && !shape.has_layout ? shape.WithDefaultLayout() : shape;
}

}  // namespace

Instruction* InLayoutOf(Instruction* value, const Shape& wanted, std::vector<Instruction*>& made) {
  if (SameMemoryOrder(value->shape(), wanted)) return value;
  Computation& c = *value->parent();
  Instruction* converted;
  if (wanted.IsTuple()) {
    std::vector<Instruction*> elements;
    for (size_t e = 0; e < wanted.elements.size(); ++e) {
      made.push_back(c.Add(Opcode::kGetTupleElement, value->shape().elements[e], {value},
                           GetTupleElementAttrs{static_cast<int64_t>(e)}));
      elements.push_back(InLayoutOf(made.back(), wanted.elements[e], made));
    }
    converted = c.Add(Opcode::kTuple, wanted, elements);
  } else {
    converted = c.Add(Opcode::kCopy, WithSomeLayout(wanted), {value});
  }
  made.push_back(converted);
  return converted;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
