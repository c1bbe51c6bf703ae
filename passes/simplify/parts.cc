// Rules of values made of parts: complex numbers, tuples, formats of floats.
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

Instruction* RealOfComplex(Instruction* i, Rewriter&) {
  return Is(i->operand(0), Opcode::kComplex) ? i->operand(0)->operand(0) : nullptr;
}

Instruction* ImagOfComplex(Instruction* i, Rewriter&) {
  return Is(i->operand(0), Opcode::kComplex) ? i->operand(0)->operand(1) : nullptr;
}

// Of a real number.
Instruction* RealOfReal(Instruction* i, Rewriter&) {
  return i->operand(0)->shape().type == i->shape().type ? i->operand(0) : nullptr;
}

Instruction* ImagOfReal(Instruction* i, Rewriter& r) {
  return i->operand(0)->shape().type == i->shape().type ? r.Splat(i->shape(), 0) : nullptr;
}

// complex(real(z), imag(z)) is z.
Instruction* ComplexOfParts(Instruction* i, Rewriter&) {
  const Instruction *real = i->operand(0), *imag = i->operand(1);
  const bool parts =
      Is(real, Opcode::kReal) && Is(imag, Opcode::kImag) && real->operand(0) == imag->operand(0);
  return parts ? real->operand(0) : nullptr;
}

Instruction* ElementOfTuple(Instruction* i, Rewriter&) {
  const Instruction* tuple = i->operand(0);
  return Is(tuple, Opcode::kTuple) && tuple->control_predecessors().empty()
             ? tuple->operand(i->tuple_index())
             : nullptr;
}

// Rounding to a format what has been rounded to it already.
Instruction* ReducePrecisionRepeated(Instruction* i, Rewriter&) {
  return Is(i->operand(0), Opcode::kReducePrecision) && i->operand(0)->SameAttributes(*i)
             ? i->operand(0)
             : nullptr;
}

Instruction* BitcastOfBitcast(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (!Is(inner, Opcode::kBitcast)) return nullptr;
  if (SameShape(inner->operand(0)->shape(), i->shape())) return inner->operand(0);
  return r.Add(Opcode::kBitcast, i->shape(), {inner->operand(0)});
}

// Of a single key; the order of one element, or of none, is known.
Instruction* SortOfOne(Instruction* i, Rewriter&) {
  if (i->operand_count() != 1) return nullptr;
  return i->shape().dims[i->attr<SortAttrs>().dimensions[0]] <= 1 ? i->operand(0) : nullptr;
}

// What cannot be infinite or NaN.
Instruction* IsFiniteOfInteger(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  const bool finite =
      Is(x, Opcode::kConvert) && x->shape().type != ElementType::kF16 &&
      BitWidth(x->shape().type) >= 16 &&
      (IsInteger(x->operand(0)->shape().type) || IsPred(x->operand(0)->shape().type));
  return finite ? r.Splat(i->shape(), 1) : nullptr;
}

// SliceToDynamic of all that one PadToStatic gives is what that one read.
Instruction* PaddedAndSliced(Instruction* i, Rewriter&) {
  if (i->attr<CustomCallAttrs>().target != "SliceToDynamic" || i->operand_count() == 0)
    return nullptr;
  const Instruction* pad = nullptr;
  for (int64_t k = 0; k < i->operand_count(); ++k) {
    const Instruction* part = i->operand(k);
    if (!Is(part, Opcode::kGetTupleElement) || part->tuple_index() != k ||
        (pad != nullptr && part->operand(0) != pad))
      return nullptr;
    pad = part->operand(0);
  }
  const bool is_pad = Is(pad, Opcode::kCustomCall) && pad->operand_count() == 1 &&
                      pad->attr<CustomCallAttrs>().target == "PadToStatic" &&
                      static_cast<int64_t>(pad->shape().elements.size()) == i->operand_count();
  return is_pad && pad->operand(0)->shape() == i->shape() ? pad->operand(0) : nullptr;
}

constexpr Rule kPartRules[] = {
    {"slice-to-dynamic-of-pad-to-static", Opcode::kCustomCall, PaddedAndSliced},
    {"real-of-complex", Opcode::kReal, RealOfComplex},
    {"real-of-real", Opcode::kReal, RealOfReal},
    {"imag-of-complex", Opcode::kImag, ImagOfComplex},
    {"imag-of-real", Opcode::kImag, ImagOfReal},
    {"complex-of-parts", Opcode::kComplex, ComplexOfParts},
    {"element-of-tuple", Opcode::kGetTupleElement, ElementOfTuple},
    {"reduce-precision-repeated", Opcode::kReducePrecision, ReducePrecisionRepeated},
    {"bitcast-of-bitcast", Opcode::kBitcast, BitcastOfBitcast},
    {"sort-of-one", Opcode::kSort, SortOfOne},
    {"is-finite-of-integer", Opcode::kIsFinite, IsFiniteOfInteger},
};

}  // namespace

absl::Span<const Rule> PartRules() { return kPartRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
