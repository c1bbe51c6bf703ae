// convert-mover, simplify-fp-conversions and convert_operand_folding: where types change.
//   transpose(convert(bf16 x to f32)) -> convert(transpose(x))
//   convert(transpose(f32 x) to bf16) -> transpose(convert(x))
#include "passes/framework/pass.h"
#include "passes/rewrite/exact_types.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

bool IsPlainConvert(const Instruction* i) {
  return i->opcode() == Opcode::kConvert && !IsSubByte(i->shape().type) &&
         !IsSubByte(i->operand(0)->shape().type);
}

bool Widens(const Instruction* i) {
  return IsPlainConvert(i) && BitWidth(i->shape().type) > BitWidth(i->operand(0)->shape().type);
}
bool Narrows(const Instruction* i) {
  return IsPlainConvert(i) && BitWidth(i->shape().type) < BitWidth(i->operand(0)->shape().type);
}

// Moves all its operands, and nothing else, without arithmetic.
bool Moves(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
      return true;
    default:
      return false;
  }
}

// move(widen(x)) is widen(move(x)).
Instruction* WidenLater(Instruction* i, Rewriter& r) {
  if (!Moves(i)) return nullptr;
  std::vector<Instruction*> operands;
  for (const Instruction* x : i->operands()) {
    if (!Widens(x) || x->users().size() != 1 || x->IsRoot() ||
        x->operand(0)->shape().type != i->operand(0)->operand(0)->shape().type)
      return nullptr;
    operands.push_back(x->operand(0));
  }
  Instruction* moved = r.Clone(i, i->shape().WithType(operands[0]->shape().type), operands);
  return r.Add(Opcode::kConvert, i->shape(), {moved});
}

// May stand after the conversion: padding moves too, with what it pads with.
bool MovesNarrowed(const Instruction* i) {
  return (Moves(i) && i->opcode() != Opcode::kSlice) || i->opcode() == Opcode::kPad;
}

// narrow(move(x)) is move(narrow(x)), through several moves of one operand each that nothing else
// reads; not where the movement makes more of it.
Instruction* NarrowEarlier(Instruction* i, Rewriter& r) {
  if (!Narrows(i)) return nullptr;
  const ElementType type = i->shape().type;
  std::vector<Instruction*> moves;  // the last first
  for (Instruction* x = i->operand(0); MovesNarrowed(x) && x->users().size() == 1;
       x = x->operand(0)) {
    moves.push_back(x);
    if (x->operand_count() != 1) break;
  }
  if (moves.empty()) return nullptr;
  Instruction* made = nullptr;
  for (size_t k = moves.size(); k-- > 0;) {
    std::vector<Instruction*> operands = {made};
    if (made == nullptr) {
      operands.clear();
      for (Instruction* x : moves[k]->operands())
        operands.push_back(r.Add(Opcode::kConvert, x->shape().WithType(type), {x}));
    }
    made = r.Clone(moves[k], k == 0 ? i->shape() : moves[k]->shape().WithType(type), operands);
  }
  return made;
}

absl::StatusOr<Instruction*> Move(Instruction* i, Rewriter& r) {
  if (!i->shape().IsArray() || i->shape().HasDynamicDims()) return nullptr;
  Instruction* later = WidenLater(i, r);
  return later != nullptr ? later : NarrowEarlier(i, r);
}

absl::StatusOr<Instruction*> SkipRounding(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvert || i->operand(0)->opcode() != Opcode::kConvert)
    return nullptr;
  Instruction* x = i->operand(0)->operand(0);
  for (const Shape* shape : {&i->shape(), &i->operand(0)->shape(), &x->shape()})
    if (!IsFloat(shape->type) || shape->HasDynamicDims()) return nullptr;
  if (SameShape(x->shape(), i->shape())) return x;
  return r.Add(Opcode::kConvert, i->shape(), {x});
}

// Conversions that a dot does by itself: between integers of one sign, of integers that the
// mantissa holds, of floats of 16 bits.
constexpr ExactTypeOptions kOperandConversions = {
    .integers_as_floats = ExactTypeOptions::IntegersAsFloats::kOfTheMantissa,
    .floats = ExactTypeOptions::Floats::kOf16Bits,
    .unsigned_as_signed = false,
    .predicates = false};

bool WidensExactly(ElementType from, ElementType to) {
  return HoldsAllValues(from, to, kOperandConversions);
}

// What moves elements of its first operand and keeps their type.
bool OnlyMoves(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kBitcast:
    case Opcode::kCopy:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return i->shape().type == i->operand(0)->shape().type;
    default:
      return false;
  }
}

// The operand before it was widened, moved as it is; null where it was not.
Instruction* BeforeWidening(Instruction* x, ElementType result, Rewriter& r) {
  std::vector<Instruction*> moves;
  while (OnlyMoves(x)) {
    moves.push_back(x);
    x = x->operand(0);
  }
  const bool exact = IsPlainConvert(x) &&
                     WidensExactly(x->operand(0)->shape().type, x->shape().type) &&
                     (x->shape().type == result || WidensExactly(x->shape().type, result));
  if (!exact) return nullptr;
  Instruction* narrow = x->operand(0);
  for (size_t k = moves.size(); k-- > 0;) {
    std::vector<Instruction*> operands(moves[k]->operands().begin(), moves[k]->operands().end());
    operands[0] = narrow;
    narrow = r.Clone(moves[k], RetypedLike(moves[k]->shape(), narrow->shape().type), operands);
  }
  return narrow;
}

absl::StatusOr<Instruction*> FoldOperands(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDot && i->opcode() != Opcode::kConvolution) return nullptr;
  if (i->operand_count() != 2) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  bool folds = false;
  for (Instruction*& x : operands) {
    Instruction* narrow = BeforeWidening(x, i->shape().type, r);
    if (narrow == nullptr) continue;
    x = narrow;
    folds = true;
  }
  return folds ? r.Clone(i, i->shape(), operands) : nullptr;
}

}  // namespace

// convert-mover. Matches data movement of widened arrays, and narrowed arrays after data movement;
// leaves the movement on the narrow side. Cost: linear.
std::unique_ptr<Pass> CreateConvertMover() { return MakeExpander("convert-mover", Move); }

// simplify-fp-conversions. Matches a conversion between floats of what was converted between
// floats; leaves one conversion from the first type. A rounding in between is lost: results may be
// more exact than before. Cost: linear.
std::unique_ptr<Pass> CreateSimplifyFpConversions() {
  return MakeExpander("simplify-fp-conversions", SkipRounding);
}

// convert_operand_folding. Matches dots and convolutions of operands that were widened exactly to a
// type no wider than the result's, and moved since (transposes, slices, gathers and the like);
// leaves the operands as they were, which widens them all the same. Cost: linear.
std::unique_ptr<Pass> CreateConvertOperandFolding() {
  return MakeExpander("convert_operand_folding", FoldOperands);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
