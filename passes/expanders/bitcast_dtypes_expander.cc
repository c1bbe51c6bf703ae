// bitcast_dtypes_expander: expands bitcast-convert between element types of different widths into
// shifts and masks.
// To a narrower type: each element is shifted right by a multiple of the width along a new last
// dimension and masked. To a wider one: the last dimension's elements are shifted left and joined
// by a reduce with or. Bitcasts of one width, of complex numbers and of sub-byte types stay. Exact.
//   u32 -> u8[4]: byte k is (x >> 8 k) & 255
#include <numeric>

#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// How far each part along the last dimension is shifted.
Instruction* Shifts(HloWriter& w, const Shape& shape, int bits) {
  Instruction* part = w.Iota(shape.type, shape.dims, shape.rank() - 1);
  return w.WithInteger(Opcode::kMultiply, part, bits);
}

Instruction* Narrowed(HloWriter& w, Instruction* x, const Shape& to) {
  const int from_bits = BitWidth(x->shape().type), bits = BitWidth(to.type);
  Instruction* raw = w.Bitcast(x, UnsignedOfWidth(from_bits));
  DimVector where(to.rank() - 1);
  std::iota(where.begin(), where.end(), 0);
  Instruction* copies = w.Broadcast(raw, to.dims, where);
  Instruction* shifted =
      w.Binary(Opcode::kShiftRightLogical, copies, Shifts(w, copies->shape(), bits));
  const int64_t mask = (int64_t{1} << bits) - 1;
  Instruction* part = w.WithInteger(Opcode::kAnd, shifted, mask);
  return w.Bitcast(w.Convert(part, UnsignedOfWidth(bits)), to.type);
}

Instruction* Widened(HloWriter& w, Instruction* x, const Shape& to) {
  const int from_bits = BitWidth(x->shape().type);
  const ElementType wide = UnsignedOfWidth(BitWidth(to.type));
  Instruction* part = w.Convert(w.Bitcast(x, UnsignedOfWidth(from_bits)), wide);
  Instruction* shifted = w.Binary(Opcode::kShiftLeft, part, Shifts(w, part->shape(), from_bits));
  Instruction* joined = w.Reduce(shifted, w.Integer(wide, 0), {x->shape().rank() - 1},
                                 MakeReducer(*x->module(), Opcode::kOr, wide));
  return w.Bitcast(joined, to.type);
}

bool Takes(ElementType type) {
  return !IsComplex(type) && !IsPred(type) && BitWidth(type) >= 8 && BitWidth(type) <= 64;
}

absl::StatusOr<Instruction*> ExpandBitcast(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kBitcastConvert || i->shape().HasDynamicDims()) return nullptr;
  Instruction* x = i->operand(0);
  const ElementType from = x->shape().type, to = i->shape().type;
  if (!Takes(from) || !Takes(to) || BitWidth(from) == BitWidth(to)) return nullptr;
  HloWriter w(r);
  return BitWidth(from) > BitWidth(to) ? Narrowed(w, x, i->shape()) : Widened(w, x, i->shape());
}

}  // namespace

std::unique_ptr<Pass> CreateBitcastDtypesExpander() {
  return MakeExpander("bitcast_dtypes_expander", ExpandBitcast);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
