// bitcast_dtypes_expander: expands bitcast-convert between element types of different widths into
// shifts and masks.
// To a narrower type: each element is copied along a new last dimension, shifted right by a
// multiple of the width and masked; to pred, what is not zero is true. To a wider one: the last
// dimension is sliced into its elements, which are shifted left and joined by or. Bitcasts of one
// width, of complex numbers, of sub-byte types and from pred stay. Exact.
//   u32 -> u8[4]: byte k is (x >> 8 k) & 255
#include <numeric>

#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

Instruction* Narrowed(HloWriter& w, Instruction* x, const Shape& to) {
  const ElementType wide = UnsignedOfWidth(BitWidth(x->shape().type));
  const int bits = IsPred(to.type) ? 8 : BitWidth(to.type);
  DimVector where(to.rank() - 1);
  std::iota(where.begin(), where.end(), 0);
  Instruction* raw = w.Bitcast(w.Broadcast(x, to.dims, where), wide);
  Instruction* shifts = w.Binary(Opcode::kMultiply, w.FillInteger(RowMajor(wide, to.dims), bits),
                                 w.Iota(wide, to.dims, to.rank() - 1));
  Instruction* shifted = w.Binary(Opcode::kShiftRightLogical, raw, shifts);
  Instruction* part = w.WithInteger(Opcode::kAnd, shifted, (int64_t{1} << bits) - 1);
  part = w.Convert(part, UnsignedOfWidth(bits));
  return IsPred(to.type) ? w.Convert(part, to.type) : w.Bitcast(part, to.type);
}

Instruction* Widened(HloWriter& w, Instruction* x, const Shape& to) {
  const int from_bits = BitWidth(x->shape().type), last = x->shape().rank() - 1;
  const ElementType narrow = UnsignedOfWidth(from_bits), wide = UnsignedOfWidth(BitWidth(to.type));
  const int64_t parts = x->shape().dims[last];
  Instruction* joined = nullptr;
  for (int64_t k = 0; k < parts; ++k) {
    SliceSpec slice;
    for (int64_t d = 0; d < last; ++d) slice.push_back({0, x->shape().dims[d], 1});
    slice.push_back({k, k + 1, parts});
    Instruction* part = w.Convert(w.Bitcast(w.Slice(x, slice), narrow), wide);
    if (k > 0) part = w.WithInteger(Opcode::kShiftLeft, part, k * from_bits);
    joined = joined == nullptr ? part : w.Binary(Opcode::kOr, joined, part);
  }
  return w.Bitcast(w.Reshape(joined, to.dims), to.type);
}

bool Takes(ElementType type) {
  return !IsComplex(type) && BitWidth(type) >= 8 && BitWidth(type) <= 64;
}

absl::StatusOr<Instruction*> ExpandBitcast(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kBitcastConvert || i->shape().HasDynamicDims()) return nullptr;
  Instruction* x = i->operand(0);
  const ElementType from = x->shape().type, to = i->shape().type;
  if (IsPred(from) || !Takes(from) || !(IsPred(to) || Takes(to)) ||
      i->shape().rank() == x->shape().rank())
    return nullptr;
  HloWriter w(r);
  return i->shape().rank() > x->shape().rank() ? Narrowed(w, x, i->shape())
                                               : Widened(w, x, i->shape());
}

}  // namespace

std::unique_ptr<Pass> CreateBitcastDtypesExpander() {
  return MakeExpander("bitcast_dtypes_expander", ExpandBitcast);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
