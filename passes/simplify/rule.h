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

  // New instructions take the metadata of the one that is rewritten.
  template <typename... Attrs>
  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                   Attrs... attributes) {
    return Note(c_.Add(opcode, WithLayout(shape), operands, std::move(attributes)...));
  }
  Instruction* Constant(Literal value) { return Note(c_.AddConstant(std::move(value))); }
  // A copy of `of` with other operands and another shape.
  Instruction* Clone(const Instruction* of, const Shape& shape,
                     absl::Span<Instruction* const> operands) {
    return Note(c_.Add(of->CloneWith(WithLayout(shape), operands)));
  }
  Instruction* Broadcast(Instruction* operand, const Shape& shape, DimVector dimensions) {
    return Add(Opcode::kBroadcast, shape, {operand}, BroadcastAttrs{std::move(dimensions)});
  }
  Instruction* Reshape(Instruction* operand, const Shape& shape) {
    return Add(Opcode::kReshape, shape, {operand});
  }
  // An array of `shape`, each element `value` (0, 1, or all bits set for -1 of integers and pred).
  Instruction* Splat(const Shape& shape, int value);

  void set_subject(const Instruction* subject) { subject_ = subject; }
  std::vector<Instruction*> TakeMade() { return std::move(made_); }

 private:
  static Shape WithLayout(Shape shape) {
    return shape.IsArray() && !shape.has_layout ? shape.WithDefaultLayout() : shape;
  }
  Instruction* Note(Instruction* made);

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

// Matchers.
// The scalar constant that every element of `i` equals: of a scalar constant, or of a broadcast of
// one.
const Literal* SplatValue(const Instruction* i);
// True if every element of `i` is the number `value`; for pred 0 and 1. -0 is no 0.
bool IsSplat(const Instruction* i, double value);
bool IsAllOnes(const Instruction* i);
bool IsIota(absl::Span<const int64_t> dims);
// Same memory order of the same dimensions and type, so that one may stand for the other wherever
// it is used.
bool SameShape(const Shape& a, const Shape& b);
// True if the two have the same dimensions apart from those of size one, in the same order.
bool SameWithoutOnes(const Shape& a, const Shape& b);
// Where each dimension of size above one of `from` lies in `to`, given SameWithoutOnes; -1 for
// those of size one.
DimVector MapWithoutOnes(const Shape& from, const Shape& to);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
