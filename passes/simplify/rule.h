// What a simplifier rule is, and what rules build and match with.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "ir/computation.h"

namespace hlokit {

// Makes instructions for rules, and remembers them.
class Rewriter {
 public:
  explicit Rewriter(Computation& computation) : c_(computation) {}

  // New instructions take the metadata of the one that is rewritten, and its sharding where that
  // cuts them alike.
  template <typename... Attrs>
  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                   Attrs... attributes) {
    return Note(c_.Add(opcode, WithLayout(shape), operands, std::move(attributes)...));
  }
  Instruction* Constant(Literal value) { return Note(c_.AddConstant(std::move(value))); }
  // A copy of `of` with other operands and another shape.
  Instruction* Clone(const Instruction* of, const Shape& shape,
                     absl::Span<Instruction* const> operands);
  Instruction* Broadcast(Instruction* operand, const Shape& shape,
                         absl::Span<const int64_t> dimensions);
  Instruction* Reshape(Instruction* operand, const Shape& shape) {
    return Add(Opcode::kReshape, shape, {operand});
  }
  // An array of `shape`, each element the scalar `value`.
  Instruction* Fill(const Shape& shape, Literal value);
  // The same of an integer that is cut to the type's width.
  Instruction* FillInt(const Shape& shape, int64_t value);
  // An array of `shape`, each element `value` (0, 1, or all bits set for -1 of integers and pred).
  Instruction* Splat(const Shape& shape, int value);

  void set_subject(const Instruction* subject) { subject_ = subject; }
  std::vector<Instruction*> TakeMade() { return std::move(made_); }

 private:
  static Shape WithLayout(Shape shape) {
    return shape.IsArray() && !shape.has_layout ? shape.WithDefaultLayout() : shape;
  }
  Instruction* Note(Instruction* made);
  // Drops the sharding that `made` has from `from` where it would cut `made` otherwise.
  static void KeepShardingOf(const Instruction& from, Instruction& made);

  Computation& c_;
  const Instruction* subject_ = nullptr;
  std::vector<Instruction*> made_;
};

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
// Those that round otherwise than what they replace, which algsimp{rounding} adds.
absl::Span<const Rule> RoundingRules();
// Those that look at memory order, which algsimp{layout-sensitive} adds.
absl::Span<const Rule> LayoutRules();

// A rule of several tables: x plus what is scattered into zeros is scattered into x. Sums of floats
// are rounded in another order.
Instruction* AddScatterToZeros(Instruction* i, Rewriter& r);

// Matchers.
// The scalar constant that every element of `i` equals: of a scalar constant, or of a broadcast of
// one.
const Literal* SplatValue(const Instruction* i);
// True if every element of `i` is the number `value`; for pred 0 and 1. -0 is no 0.
bool IsSplat(const Instruction* i, double value);
bool IsAllOnes(const Instruction* i);
// The integer that every element of `i` equals (of u64: its bits), if there is one.
std::optional<int64_t> IntegerSplat(const Instruction* i);
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
bool IsIota(absl::Span<const int64_t> dims);
// Same memory order of the same dimensions and type, so that one may stand for the other wherever
// it is used.
bool SameShape(const Shape& a, const Shape& b);
// The least and the greatest integer that an element of `i` can be, where its opcode bounds it: a
// clamp, maximum or minimum with constants, or a conversion of pred. Each may be absent.
struct IntegerRange {
  std::optional<int64_t> least, greatest;
};
IntegerRange RangeOf(const Instruction* i);
// True if the two have the same dimensions apart from those of size one, in the same order.
bool SameWithoutOnes(const Shape& a, const Shape& b);
// Moves `a` and `b` to the end of the smallest group of dimensions from there on, of `from` and
// `to`, that hold the same elements; none is of size 0.
void GroupEnd(const Shape& from, const Shape& to, int64_t& a, int64_t& b);
// Where each dimension of size above one of `from` lies in `to`, given SameWithoutOnes; -1 for
// those of size one.
DimVector MapWithoutOnes(const Shape& from, const Shape& to);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
