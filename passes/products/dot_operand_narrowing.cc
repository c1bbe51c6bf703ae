// dot-operand-narrowing: a product takes quantized weights as they are stored, for targets whose
// products widen them while they read; an array of widened ones would be written and read again.
//   dot(x, f32 convert(s8 w))  ->  dot(x, s8 w)
// The operand's type has all values of the narrow one, so that results keep their bits. Reshapes
// and transposes between move to the narrow array. Products of bf16 and f16 with many rows stay:
// kernels of pairs are ahead of widening there. Cost: linear.
#include <algorithm>

#include "analysis/quantized_product.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

// What reshapes without copying, or copies: it commutes with a conversion of elements.
bool Rearranges(const Instruction& i) {
  return i.opcode() == Opcode::kReshape || i.opcode() == Opcode::kTranspose ||
         i.opcode() == Opcode::kBitcast;
}

// The conversion that an operand comes from, null where there is none, or where the wide array is
// wanted besides.
Instruction* WideningOf(Instruction* operand) {
  while (Rearranges(*operand) && operand->users().size() == 1) operand = operand->operand(0);
  if (operand->opcode() != Opcode::kConvert || !operand->shape().IsArray()) return nullptr;
  const bool products_alone = std::all_of(
      operand->users().begin(), operand->users().end(),
      [](const Instruction* user) { return user->opcode() == Opcode::kDot || Rearranges(*user); });
  return products_alone ? operand : nullptr;
}

// `wide`, made of `widening`, from the narrow array.
Instruction* Narrowed(Instruction* wide, const Instruction* widening, Rewriter& r) {
  if (wide == widening) return wide->operand(0);
  Instruction* const from = Narrowed(wide->operand(0), widening, r);
  Shape shape = wide->shape();
  shape.type = from->shape().type;
  return r.Clone(wide, shape, {from});
}

absl::StatusOr<Instruction*> TakeBytes(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDot || i->operand_count() != 2) return nullptr;
  for (const int side : {1, 0}) {
    Instruction* const widening = WideningOf(i->operand(side));
    if (widening == nullptr || !HoldsWeights(widening->shape().type) ||
        !WidensInside(*i, side, widening->operand(0)->shape().type))
      continue;
    std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
    operands[side] = Narrowed(operands[side], widening, r);
    return r.Clone(i, i->shape(), operands);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Pass> CreateDotOperandNarrowing() {
  return MakeExpander("dot-operand-narrowing", TakeBytes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
