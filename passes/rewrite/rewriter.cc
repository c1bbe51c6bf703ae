// New instructions keep the metadata of those that they replace.
#include "passes/rewrite/rewriter.h"

#include "types/number_literal.h"

namespace hlokit {

namespace {

// Whether a sharding of `from` says the same of an array or tuple of shape `to`.
bool MeansTheSame(const Sharding& sharding, const Shape& from, const Shape& to) {
  if (sharding.kind == Sharding::Kind::kTuple)
    return from.IsTuple() && to.IsTuple() && from.elements.size() == to.elements.size();
  const bool cuts =
      sharding.kind == Sharding::Kind::kTiled || sharding.kind == Sharding::Kind::kText;
  return !cuts || (from.IsArray() && to.IsArray() && from.dims == to.dims);
}

}  // namespace

Instruction* Rewriter::Note(Instruction* made) {
  if (subject_ != nullptr) {
    made->CopyExtrasFrom(*subject_);
    KeepShardingOf(*subject_, *made);
  }
  made_.push_back(made);
  return made;
}

void Rewriter::KeepShardingOf(const Instruction& from, Instruction& made) {
  if (made.sharding() != nullptr && !MeansTheSame(*made.sharding(), from.shape(), made.shape()))
    made.mutable_extras().sharding.reset();
}

Instruction* Rewriter::Clone(const Instruction* of, const Shape& shape,
                             absl::Span<Instruction* const> operands) {
  Instruction* made = c_.Add(of->CloneWith(WithLayout(shape), operands));
  KeepShardingOf(*of, *made);
  return Note(made);
}

Instruction* Rewriter::Broadcast(Instruction* operand, const Shape& shape,
                                 absl::Span<const int64_t> dimensions) {
  BroadcastAttrs attrs;
  attrs.dimensions.assign(dimensions.begin(), dimensions.end());
  return Add(Opcode::kBroadcast, shape, {operand}, std::move(attrs));
}

Instruction* Rewriter::Fill(const Shape& shape, Literal value) {
  Instruction* constant = Constant(std::move(value));
  return shape.IsScalar() ? constant : Broadcast(constant, shape, {});
}

Instruction* Rewriter::FillInt(const Shape& shape, int64_t value) {
  Literal scalar(Shape::Scalar(shape.type));
  scalar.SetInt(0, value);
  return Fill(shape, std::move(scalar));
}

Instruction* Rewriter::Splat(const Shape& shape, int value) {
  return Fill(shape, NumberLiteral(shape.type, IsPred(shape.type) ? value != 0 : value));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
