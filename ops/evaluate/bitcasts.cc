// Evaluates ops that read the bits of an array as another type: bitcast-convert, bitcast.
//
//   bitcast-convert of u16[2] {0x4321, 0x8765} to u4[2,4]: {{1, 2, 3, 4}, {5, 6, 7, 8}}
//   bitcast of u16[2] to u4[2,4]{1,0:E(4)}: the same, in the order in which the elements lie in
//   memory
// Elements of types below a byte fill a byte each in a literal and in hlokit's memory; where XLA
// packs them, E(4), a bitcast to or from a type of another width joins or cuts them as
// bitcast-convert does. Each takes one pass over the array.
#include <cstring>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

uint64_t RawBits(const Literal& literal, int64_t i) {
  const int width = ByteWidth(literal.type());
  uint64_t bits = 0;
  std::memcpy(&bits, literal.data() + i * width, width);
  return width == 1 ? bits & ((1u << BitWidth(literal.type())) - 1) : bits;
}

// Elements of types that take less than a byte, joined or cut, the first in the lowest bits.
void RegroupBits(const Literal& from, Literal& to) {
  const int in = BitWidth(from.type()), out = BitWidth(to.type());
  for (int64_t i = 0; i < to.element_count(); ++i) {
    uint64_t bits = 0;
    if (in >= out) {
      const int pieces = in / out;
      bits = RawBits(from, i / pieces) >> (i % pieces * out);
    } else {
      for (int k = 0; k < out / in; ++k) bits |= RawBits(from, i * (out / in) + k) << (k * in);
    }
    if (IsFloat(to.type())) {
      bits &= out == 64 ? ~uint64_t{0} : (uint64_t{1} << out) - 1;
      std::memcpy(to.data() + i * ByteWidth(to.type()), &bits, ByteWidth(to.type()));
    } else {
      to.SetInt(i, static_cast<int64_t>(bits));
    }
  }
}

int64_t BitsOf(const Shape& shape) { return shape.ElementCount() * BitWidth(shape.type); }

// What `literal` holds, as a list in the order of `shape` in memory.
Literal InMemoryOrder(const Literal& literal, const Shape& shape) {
  Literal list(Shape::Array(shape.type, {literal.element_count()}));
  ToLayout(literal, shape, list.data());
  return list;
}

}  // namespace

absl::StatusOr<Literal> EvaluateBitcastConvert(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  Literal result(context.instruction.shape());
  const int64_t bits = operand.element_count() * BitWidth(operand.type());
  if (bits != result.element_count() * BitWidth(result.type()))
    return InvalidArgument("bitcast-convert: ", Text(operand.shape()), " and ",
                           Text(result.shape()), " differ in size");
  if (BitWidth(operand.type()) == BitWidth(result.type())) CopyRuntimeDims(operand, result);
  const bool packed = IsSubByte(operand.type()) || IsSubByte(result.type());
  if (packed) {
    RegroupBits(operand, result);
  } else if (IsPred(result.type())) {
    for (int64_t i = 0; i < result.element_count(); ++i) result.data()[i] = operand.data()[i] != 0;
  } else {
    std::memcpy(result.data(), operand.data(), operand.byte_size());
  }
  return result;
}

// The bytes stay as they lie in memory under the layouts of the two shapes; a shape without one is
// row-major.
absl::StatusOr<Literal> EvaluateBitcast(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  const Shape& from = context.instruction.operand(0)->shape();
  Literal result(context.instruction.shape());
  const bool same_bytes = operand.byte_size() == result.byte_size();
  const bool packed = IsSubByte(operand.type()) || IsSubByte(result.type());
  if (operand.element_count() != from.ElementCount() ||
      (!same_bytes && !(packed && BitsOf(from) == BitsOf(result.shape()))))
    return InvalidArgument("bitcast: ", Text(from), " and ", Text(result.shape()),
                           " differ in size");
  const Literal memory = InMemoryOrder(operand, from);
  if (!same_bytes) {
    Literal list(Shape::Array(result.type(), {result.element_count()}));
    RegroupBits(memory, list);
    FromLayout(list.data(), result.shape(), result);
    return result;
  }
  FromLayout(memory.data(), result.shape(), result);
  if (IsSubByte(result.type()) && result.type() != operand.type())
    for (int64_t i = 0; i < result.element_count(); ++i) result.SetInt(i, result.GetInt(i));
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
