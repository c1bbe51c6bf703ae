// What a simplifier rule is, and the tables of rules.
#pragma once

#include "absl/types/span.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// A rule looks at an instruction of its opcode and gives what may stand in its place: an equal
// value of the same type and dimensions, or null. An instruction made in vain is removed again.
struct Rule {
  const char* name;
  Opcode opcode;
  Instruction* (*apply)(Instruction*, Rewriter&);
};

// The tables, one a family.
absl::Span<const Rule> ArithmeticRules();
absl::Span<const Rule> CompareSelectRules();
absl::Span<const Rule> ConvertRules();
absl::Span<const Rule> BroadcastReshapeRules();
absl::Span<const Rule> MovementRules();
absl::Span<const Rule> ReduceRules();
absl::Span<const Rule> SignRules();
absl::Span<const Rule> IntegerRules();
absl::Span<const Rule> IotaRules();
absl::Span<const Rule> LogicRules();
absl::Span<const Rule> BoundRules();
absl::Span<const Rule> PartRules();
absl::Span<const Rule> PieceRules();
absl::Span<const Rule> TransposeRules();
absl::Span<const Rule> UpdateRules();
absl::Span<const Rule> ProductRules();
// XLA's own forms, which algsimp{exact} leaves out; the last round otherwise than what they
// replace.
absl::Span<const Rule> ChainRules();
absl::Span<const Rule> WindowRules();
absl::Span<const Rule> SumRules();
absl::Span<const Rule> RoundingRules();
absl::Span<const Rule> ProductFormRules();
// XLA's forms without dimensions of size one, which algsimp{layout-sensitive} leaves out as well.
absl::Span<const Rule> OnesRules();
absl::Span<const Rule> IotaFormRules();  // and these
// Those that forget NaN, infinities and rounding, which algsimp{fast-math} adds.
absl::Span<const Rule> FastMathRules();
// Those that look at memory order, which algsimp{layout-sensitive} adds.
absl::Span<const Rule> LayoutRules();
// Where oneDNN computes products (onednn.cc).
absl::Span<const Rule> OnednnRules();

// A rule of several tables: x plus what is scattered into zeros is scattered into x. Sums of floats
// are rounded in another order.
Instruction* AddScatterToZeros(Instruction* i, Rewriter& r);

// x plus zeros that were updated is x with the sum in the update's place.
Instruction* AddUpdateOfZeros(Instruction* i, Rewriter& r);

// A gather of what was padded is padded instead (gathers.cc).
Instruction* GatherBeforePad(Instruction* i, Rewriter& r);

// True where every element is no less than 0, or NaN; looks a few operations up.
bool NeverNegative(const Instruction* x, int depth = 4);

// Operand `k` or, of two, the other one: whichever satisfies `is`; -1 if neither does.
template <typename Is>
int OperandThat(const Instruction* i, Is is) {
  if (is(i->operand(1))) return 1;
  return is(i->operand(0)) ? 0 : -1;
}

// What f(f(a, b), b) is, of an f that takes the same operand twice for once: f(a, b).
Instruction* RepeatedOperand(Instruction* i, Rewriter&);

// Lets the window pad where its operand was padded, by what the window pads with; false where it
// cannot.
bool AbsorbPadding(const PaddingDim& padding, WindowDim& window);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
