// Which shape a result takes its layouts from.
#include "ops/inferred_layout.h"

#include <algorithm>

#include "ops/dim_lists.h"

namespace hlokit {
namespace {

// A shape that exists with its layouts, where the result is that one.
const Shape* LikeWhat(Opcode opcode, absl::Span<const Shape* const> operands,
                      const AttributesBase* attributes, absl::Span<Computation* const> called) {
  switch (opcode) {
    case Opcode::kGetTupleElement: {
      const Shape& tuple = *operands[0];
      const int64_t index =
          static_cast<const AttributesOf<GetTupleElementAttrs>*>(attributes)->value.index;
      const bool inside =
          tuple.IsTuple() && index >= 0 && index < static_cast<int64_t>(tuple.elements.size());
      return inside ? &tuple.elements[index] : nullptr;
    }
    case Opcode::kCall:
    case Opcode::kConditional:
      return called.empty() ? nullptr : &called[0]->root()->shape();
    default:
      break;
  }
  if (HasTrait(opcode, kLayoutOfSecond)) return operands[1];
  const bool first = HasTrait(opcode, kLayoutOfFirst) || HasTrait(opcode, kElementwise);
  return first && !operands.empty() ? operands[0] : nullptr;
}

// The order in memory stays, tiles and all; only the dimensions change their names.
void TransposeLayout(const Shape& from, const DimVector& dimensions, Shape& to) {
  if (!from.has_layout || from.rank() != to.rank() || !IsPermutation(dimensions, to.rank())) return;
  const DimVector order = from.MinorToMajor();
  DimVector renamed;
  for (int64_t d : order)
    renamed.push_back(std::find(dimensions.begin(), dimensions.end(), d) - dimensions.begin());
  to.layout = Shape::ArrayWithLayout(to.type, to.dims, renamed).layout;
  to.layout.extras = from.layout.extras;
  to.has_layout = true;
}

// A result of another type has not the element size that the operand's layout names.
void DropElementSize(Layout& layout) {
  if (layout.extras == nullptr || layout.extras->element_size_in_bits == 0) return;
  LayoutExtras extras = *layout.extras;
  extras.element_size_in_bits = 0;
  const bool plain = extras == LayoutExtras();
  layout.extras = plain ? nullptr : std::make_shared<const LayoutExtras>(std::move(extras));
}

void TakeLayout(const Shape& from, Shape& to) {
  if (to.IsTuple() && from.IsTuple() && to.elements.size() == from.elements.size()) {
    for (size_t i = 0; i < to.elements.size(); ++i) TakeLayout(from.elements[i], to.elements[i]);
  } else if (to.IsArray() && from.IsArray() && from.has_layout && SameDims(from, to)) {
    to.layout = from.layout;
    to.has_layout = true;
    if (to.type != from.type) DropElementSize(to.layout);
  }
}

}  // namespace

Shape WithInferredLayout(const Shape& shape, Opcode opcode, absl::Span<const Shape* const> operands,
                         const AttributesBase* attributes, absl::Span<Computation* const> called) {
  Shape result = shape.WithDefaultLayout();
  if (const Shape* like = LikeWhat(opcode, operands, attributes, called)) TakeLayout(*like, result);
  // XLA's reader names no element size for what two operands give as pred, whatever theirs is.
  if (operands.size() == 2 && result.type == ElementType::kPred && HasTrait(opcode, kElementwise))
    DropElementSize(result.layout);
  if (opcode == Opcode::kTranspose)
    TransposeLayout(*operands[0],
                    static_cast<const AttributesOf<DimensionsAttrs>*>(attributes)->value.dimensions,
                    result);
  if (opcode == Opcode::kTuple || opcode == Opcode::kSort)
    for (size_t i = 0; i < operands.size() && i < result.elements.size(); ++i)
      TakeLayout(*operands[i], result.elements[i]);
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
