// Makes the instructions that take the places of others.
#pragma once

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "ir/computation.h"

namespace hlokit {

// Makes instructions in a computation, and remembers them.
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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
