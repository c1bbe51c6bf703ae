// Ragged all-to-alls with offsets of 64 bits, and as dense ones.
//   ragged-all-to-all(x, y, input offsets, send sizes, output offsets, receive sizes)
//     -> all-to-all of equally long pieces of x, each put into y where its offset says
#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

Made UseWideOffsets(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kRaggedAllToAll) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  bool changed = false;
  for (size_t k = 2; k < operands.size(); ++k) {
    if (operands[k]->shape().type == ElementType::kS64) continue;
    operands[k] = w.Convert(operands[k], ElementType::kS64);
    changed = true;
  }
  return changed ? r.Clone(i, i->shape(), operands) : nullptr;
}

// A decomposition of one exchange between `members` devices, `updates` pieces each.
class Decomposition {
 public:
  Decomposition(Instruction* i, Rewriter& r, int64_t members)
      : i_(i),
        r_(r),
        w_(r),
        members_(members),
        updates_(i->operand(2)->shape().dims[0] / members) {}

  Instruction* Write() {
    Instruction* places = SentOffsets();
    std::vector<Shape> shapes;
    const std::vector<Instruction*> pieces = Pieces();
    for (const Instruction* piece : pieces) shapes.push_back(piece->shape());
    AllToAllAttrs attrs{Attrs().channel_id, Attrs().replica_groups, false, std::nullopt};
    Instruction* exchanged =
        members_ == 1 ? w_.Tuple(pieces)
                      : r_.Add(Opcode::kAllToAll, Shape::Tuple(std::move(shapes)), pieces, attrs);
    return Placed(exchanged, places);
  }

 private:
  const RaggedAllToAllAttrs& Attrs() const { return i_->attr<RaggedAllToAllAttrs>(); }
  int64_t Length() const { return i_->operand(0)->shape().dims[0]; }

  Instruction* Padded(Instruction* x, int64_t rows) {
    PaddingConfig padding(x->shape().rank());
    padding[0].high = rows;
    return w_.Pad(x, w_.Integer(x->shape().type, 0), std::move(padding));
  }

  // Where the others put what they send is what they know; this device must hear of it.
  Instruction* SentOffsets() {
    Instruction* offsets = i_->operand(4);
    const int64_t count = offsets->shape().dims[0];
    if (members_ == 1) return offsets;
    Instruction* table = w_.Reshape(offsets, {members_, updates_});
    AllToAllAttrs attrs{Attrs().channel_id, Attrs().replica_groups, false, DimVector{0}};
    return w_.Reshape(r_.Add(Opcode::kAllToAll, table->shape(), {table}, attrs), {count});
  }

  std::vector<Instruction*> Starts(Instruction* offsets, int64_t k) {
    std::vector<Instruction*> starts(i_->shape().rank(), w_.Integer(ElementType::kS64, 0));
    starts[0] = w_.Convert(w_.ElementOf(offsets, k), ElementType::kS64);
    return starts;
  }

  // For each device the pieces that go to it, each as long as the whole operand.
  std::vector<Instruction*> Pieces() {
    Instruction* x = i_->operand(0);
    std::vector<Instruction*> pieces;
    for (int64_t to = 0; to < members_; ++to) {
      std::vector<Instruction*> rows;
      for (int64_t k = 0; k < updates_; ++k) {
        Instruction* piece = w_.DynamicSlice(
            Padded(x, Length()), Starts(i_->operand(2), to * updates_ + k), x->shape().dims);
        DimVector dims = piece->shape().dims;
        dims.insert(dims.begin(), 1);
        rows.push_back(w_.Reshape(piece, dims));
      }
      pieces.push_back(w_.Concatenate(rows, 0));
    }
    return pieces;
  }

  // Which rows of `shape` lie from `start` on, `size` of them.
  Instruction* Rows(const Shape& shape, Instruction* start, Instruction* size) {
    Instruction* row = w_.Iota(ElementType::kS64, shape.dims, 0);
    Instruction* first = w_.Fill(row->shape(), start);
    Instruction* end = w_.Binary(Opcode::kAdd, first, w_.Fill(row->shape(), size));
    return w_.Binary(Opcode::kAnd, w_.Compare(row, first, ComparisonDirection::kGe),
                     w_.Compare(row, end, ComparisonDirection::kLt));
  }

  Instruction* Placed(Instruction* exchanged, Instruction* places) {
    const DimVector dims = i_->shape().dims;
    Instruction* y = Padded(i_->operand(1), Length());
    for (int64_t from = 0; from < members_; ++from) {
      Instruction* pieces = w_.Part(exchanged, from);
      for (int64_t k = 0; k < updates_; ++k) {
        const int64_t n = from * updates_ + k;
        Instruction* piece = w_.SliceOf(pieces, 0, k, k + 1);
        piece = w_.Reshape(piece, absl::MakeSpan(piece->shape().dims).subspan(1));
        const std::vector<Instruction*> starts = Starts(places, n);
        Instruction* moved = w_.DynamicUpdateSlice(w_.FillInteger(y->shape(), 0), piece, starts);
        Instruction* size = w_.Convert(w_.ElementOf(i_->operand(5), n), ElementType::kS64);
        y = w_.Select(Rows(y->shape(), starts[0], size), moved, y);
      }
    }
    return w_.SliceOf(y, 0, 0, dims[0]);
  }

  Instruction* i_;
  Rewriter& r_;
  HloWriter w_;
  int64_t members_, updates_;
};

Made Decompose(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kRaggedAllToAll || !i->shape().IsArray() || i->shape().rank() == 0 ||
      i->operand(0)->shape().dims[0] == 0)
    return nullptr;
  for (int64_t k = 2; k < 6; ++k)
    if (i->operand(k)->shape().rank() != 1) return nullptr;
  const int64_t members = GroupSize(*i);
  if (members <= 0 || i->operand(2)->shape().dims[0] % members != 0) return nullptr;
  return Decomposition(i, r, members).Write();
}

}  // namespace

// ragged-all-to-all-canonicalizer: offsets and sizes of ragged all-to-alls are converted to s64.
// Exact.
std::unique_ptr<Pass> CreateRaggedAllToAllCanonicalizer() {
  return MakeExpander("ragged-all-to-all-canonicalizer", UseWideOffsets);
}

// ragged-all-to-all-decomposer: a ragged all-to-all becomes an all-to-all of the offsets, one of
// pieces that are all as long as the operand, and selects that put each piece where it belongs.
// Exact. Cost: each piece is sent in full length.
std::unique_ptr<Pass> CreateRaggedAllToAllDecomposer() {
  return MakeExpander("ragged-all-to-all-decomposer", Decompose);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
