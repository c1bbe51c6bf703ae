// operand_converter: dots of two types take both operands in the more precise one, as a GPU's
// libraries want them. Two of f8 stay: libraries multiply these.
//   dot(bf16, s8)  ->  dot(bf16, convert(s8 -> bf16))
// Exact where the more precise type has all values of the other; s32 to bf16 rounds. Products of
// integers whose result is narrower than that type stay: no product of two such may have it.
// Linear.
#include <tuple>

#include "passes/float_types/mixed_types.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// By weight: complex types, the range of floats, their precision, width, a sign.
std::tuple<bool, int, int, int, bool> PrecisionOf(ElementType type) {
  int range = -(1 << 20), precision = 0;
  if (IsFloat(type)) {
    const FloatFormat& format = FormatOf(type);
    range = (1 << format.exponent_bits) - format.bias - (format.has_infinity ? 1 : 0);
    precision = format.mantissa_bits;
  }
  return {IsComplex(type), range, precision, ValueBits(type), IsSigned(type)};
}

bool IsF8OfLibraries(ElementType type) {
  return type == ElementType::kF8E4M3FN || type == ElementType::kF8E5M2;
}

bool IsUnsignedZeroF8(ElementType type) {
  return type == ElementType::kF8E4M3FNUZ || type == ElementType::kF8E5M2FNUZ;
}

absl::StatusOr<Instruction*> ConvertLessPrecise(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDot || i->operand_count() != 2) return nullptr;
  const ElementType a = i->operand(0)->shape().type, b = i->operand(1)->shape().type;
  if (a == b || (IsF8OfLibraries(a) && IsF8OfLibraries(b)) ||
      (IsUnsignedZeroF8(a) && IsUnsignedZeroF8(b)))
    return nullptr;
  const ElementType type = PrecisionOf(a) < PrecisionOf(b) ? b : a;
  if (!IsFloat(type) && !IsComplex(type) && BitWidth(i->shape().type) < BitWidth(type))
    return nullptr;
  HloWriter w(r);
  return r.Clone(i, i->shape(), {w.Convert(i->operand(0), type), w.Convert(i->operand(1), type)});
}

}  // namespace

std::unique_ptr<Pass> CreateOperandConverter() {
  return MakeExpander("operand_converter", ConvertLessPrecise);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
