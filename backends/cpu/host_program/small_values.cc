// Which values are in registers, by instruction and leaf, looked up through tuples, bitcasts and
// get-tuple-element. Loop-carried scalars and small vectors become phi nodes this way.
#include "backends/cpu/host_program/small_values.h"

#include "analysis/in_place.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxElements = 8;  // longer ones are worth vectors, unless they are
constexpr int64_t kMaxSide = 4;      // matrices, which products go through by columns too

// The operand's leaf that leaf `leaf` of a tuple is.
std::pair<const Instruction*, int64_t> TupleLeaf(const Instruction* tuple, int64_t leaf) {
  for (const Instruction* operand : tuple->operands()) {
    const auto count = static_cast<int64_t>(Leaves(operand->shape()).size());
    if (leaf < count) return {operand, leaf};
    leaf -= count;
  }
  return {nullptr, 0};
}

int64_t FirstLeaf(const Shape& tuple, int64_t element) {
  int64_t first = 0;
  for (int64_t e = 0; e < element; ++e)
    first += static_cast<int64_t>(Leaves(tuple.elements[e]).size());
  return first;
}

SmallValues::Elements ConstantElements(llvm::IRBuilderBase& b, const Literal& literal) {
  SmallValues::Elements elements;
  const auto* bytes = static_cast<const uint8_t*>(static_cast<const void*>(literal.data()));
  const int64_t width = ByteWidth(literal.type());
  for (int64_t k = 0; k < literal.shape().ElementCount(); ++k)
    elements.push_back(ConstantElement(b, literal.type(), bytes + k * width));
  return elements;
}

// Of two dimensions that count, both of them short.
bool IsSmallMatrix(const Shape& shape) {
  int64_t sides = 0;
  for (int64_t size : shape.dims) {
    if (size > kMaxSide) return false;
    if (size != 1) ++sides;
  }
  return sides == 2;
}

}  // namespace

bool SmallValues::IsSmall(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDims() && !IsSubByte(shape.type) &&
         shape.ElementCount() >= 1 &&
         (shape.ElementCount() <= kMaxElements || IsSmallMatrix(shape));
}

void SmallValues::Set(const Instruction* instruction, int64_t leaf, Elements elements) {
  known_[{instruction, leaf}] = std::move(elements);
}

std::optional<SmallValues::Elements> SmallValues::Find(llvm::IRBuilderBase& b, const Instruction* i,
                                                       int64_t leaf) const {
  while (i != nullptr) {
    if (auto found = known_.find({i, leaf}); found != known_.end()) return found->second;
    switch (i->opcode()) {
      case Opcode::kTuple:
        std::tie(i, leaf) = TupleLeaf(i, leaf);
        continue;
      case Opcode::kGetTupleElement:
        leaf += FirstLeaf(i->operand(0)->shape(), i->tuple_index());
        i = i->operand(0);
        continue;
      case Opcode::kConstant:
        if (i->literal() == nullptr || !IsSmall(i->shape()) || !i->shape().IsRowMajor())
          return std::nullopt;
        return ConstantElements(b, *i->literal());
      default:
        break;
    }
    if (!IsPassThrough(*i)) return std::nullopt;
    const Shape& from = i->operand(0)->shape();
    if (i->shape().IsArray() && (!from.IsArray() || from.type != i->shape().type))
      return std::nullopt;
    i = i->operand(0);
  }
  return std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
