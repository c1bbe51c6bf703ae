// Where bf16 is computed in, and where f32.
//   bf16-mixed-precision-removal  add(bf16 x, f32 y) -> add(convert(x), y)
//   bfloat16-fold                 transpose(convert(bf16 x)) -> convert(transpose(x))
//   bfloat16-propagation          convert(transpose(f32 x)) to bf16 -> transpose(convert(x))
#include <cmath>

#include "passes/float_types/mixed_types.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

namespace {

using Made = absl::StatusOr<Instruction*>;
constexpr ElementType kNarrow = ElementType::kBF16, kWide = ElementType::kF32;

bool HasType(const Instruction* i, ElementType type) { return i->shape().type == type; }

Made RemoveMixture(Instruction* i, Rewriter& r) {
  const bool elementwise = HasTrait(i->opcode(), kElementwise) && i->opcode() != Opcode::kConvert &&
                           i->opcode() != Opcode::kBitcastConvert &&
                           i->opcode() != Opcode::kStochasticConvert;
  if (!elementwise && !IsProduct(i)) return nullptr;
  bool narrow = HasType(i, kNarrow), wide = HasType(i, kWide);
  bool narrow_operand = false;
  for (const Instruction* operand : i->operands()) {
    narrow_operand |= HasType(operand, kNarrow);
    wide |= HasType(operand, kWide);
  }
  narrow |= narrow_operand;
  if (!narrow || !wide) return nullptr;
  // Dots and convolutions of bf16 into f32 are no mixture.
  if (IsProduct(i) && HasType(i->operand(0), kNarrow) && HasType(i->operand(1), kNarrow))
    return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands;
  for (Instruction* operand : i->operands())
    operands.push_back(HasType(operand, kNarrow) ? w.Convert(operand, kWide) : operand);
  const bool floats = HasType(i, kNarrow) || HasType(i, kWide);
  Instruction* made = r.Clone(i, floats ? i->shape().WithType(kWide) : i->shape(), operands);
  return floats ? w.Convert(made, i->shape().type) : made;
}

Instruction* WidenedFrom(const Instruction* i) {
  const bool widens =
      i->opcode() == Opcode::kConvert && HasType(i, kWide) && HasType(i->operand(0), kNarrow);
  return widens ? i->operand(0) : nullptr;
}

Made Fold(Instruction* i, Rewriter& r) {
  if (!HasType(i, kWide)) return nullptr;
  if (!IsProduct(i) && !HasTrait(i->opcode(), kPicksElements)) return nullptr;
  if (i->opcode() == Opcode::kBitcast || i->opcode() == Opcode::kAllGather) return nullptr;
  std::vector<Instruction*> operands;
  bool any = false;
  for (Instruction* operand : i->operands()) {
    Instruction* narrow = WidenedFrom(operand);
    if (HasType(operand, kWide) && narrow == nullptr) return nullptr;
    any |= narrow != nullptr;
    operands.push_back(narrow != nullptr ? narrow : operand);
  }
  if (!any) return nullptr;
  if (IsProduct(i)) return r.Clone(i, i->shape(), operands);
  HloWriter w(r);
  return w.Convert(r.Clone(i, i->shape().WithType(kNarrow), operands), kWide);
}

Made Propagate(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvert || !HasType(i, kNarrow) || !HasType(i->operand(0), kWide))
    return nullptr;
  Instruction* x = i->operand(0);
  if (!HasTrait(x->opcode(), kPicksElements) || x->opcode() == Opcode::kBitcast ||
      x->users().size() != 1 || x->IsRoot() || HasControlEdges(*x))
    return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands;
  for (Instruction* operand : x->operands())
    operands.push_back(HasType(operand, kWide) ? w.Convert(operand, kNarrow) : operand);
  return r.Clone(x, i->shape(), operands);
}

// Up with the probability of the fraction that is cut off: where the random bits lie below it. The
// sign comes after that, and what the type cannot hold is its least or greatest value.
Made DecomposeStochasticConvert(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kStochasticConvert || !IsInteger(i->shape().type)) return nullptr;
  const ElementType to = i->shape().type, from = i->operand(0)->shape().type;
  Instruction* random = i->operand(1);
  if (!IsUnsigned(random->shape().type) || BitWidth(random->shape().type) != BitWidth(from))
    return absl::InvalidArgumentError(
        absl::StrCat("stochastic_convert_decomposer: random bits of ", Text(from), " are ",
                     Text(UnsignedOfWidth(BitWidth(from))), ", not ", Text(random->shape().type)));
  HloWriter w(r);
  // In a type that holds as many steps as the random bits have.
  Instruction* x = BitWidth(from) < 32 ? w.Convert(i->operand(0), kWide) : i->operand(0);
  const ElementType real = x->shape().type;
  Instruction* size = w.Unary(Opcode::kAbs, x);
  Instruction* whole = w.Unary(Opcode::kFloor, size);
  Instruction* fraction = w.Binary(Opcode::kSubtract, size, whole);
  const double values = std::ldexp(1.0, BitWidth(random->shape().type));
  Instruction* threshold =
      w.Convert(w.Unary(Opcode::kCeil, w.WithNumber(Opcode::kMultiply, fraction, values)),
                random->shape().type);
  Instruction* up = w.Compare(random, threshold, ComparisonDirection::kLt);
  Instruction* count = w.Convert(whole, to);
  Instruction* rounded = w.Select(up, w.WithInteger(Opcode::kAdd, count, 1), count);
  Instruction* zero = w.FillNumber(x->shape(), 0);
  Instruction* negative = w.Compare(x, zero, ComparisonDirection::kLt);
  Instruction* with_sign = w.Select(negative, w.Unary(Opcode::kNegate, rounded), rounded);
  const auto limit = [&](Instruction* value, ComparisonDirection direction,
                         Instruction* otherwise) {
    Instruction* bound = w.Convert(value, real);
    Instruction* beyond = w.Compare(x, w.Fill(x->shape(), bound), direction);
    return w.Select(beyond, w.Fill(i->shape(), value), otherwise);
  };
  return limit(w.Lowest(to), ComparisonDirection::kLe,
               limit(w.Highest(to), ComparisonDirection::kGe, with_sign));
}

}  // namespace

// bf16-mixed-precision-removal: an elementwise operation, dot or convolution on bf16 and f32 at
// once computes in f32. Equal up to the rounding of products.
std::unique_ptr<Pass> CreateBf16MixedPrecisionRemoval() {
  return MakeExpander("bf16-mixed-precision-removal", RemoveMixture, {.everywhere = true});
}

// bfloat16-fold: a dot or convolution of widened bf16 takes the bf16 itself, and what only moves or
// picks widened values works on bf16 and widens its result. Exact.
std::unique_ptr<Pass> CreateBfloat16Fold() { return MakeExpander("bfloat16-fold", Fold); }

// bfloat16-propagation: what only moves or picks f32 values for a conversion to bf16 works on
// converted operands. Exact.
std::unique_ptr<Pass> CreateBfloat16Propagation() {
  return MakeExpander("bfloat16-propagation", Propagate);
}

// stochastic_convert_decomposer: stochastic-convert to integers in terms of the fraction and a
// comparison with the random bits; to floats it stays. Exact.
std::unique_ptr<Pass> CreateStochasticConvertDecomposer() {
  return MakeExpander("stochastic_convert_decomposer", DecomposeStochasticConvert);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
