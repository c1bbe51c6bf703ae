// Column reductions without elementwise work on top, in vectors: tiles (column_tile.cc) wide enough
// that memory is read in pieces of about 2 KB. Arrays beyond TargetInfo::far_bytes are prefetched
// kRowsAhead rows ahead: the hardware prefetcher reacts too late to pieces that are a row apart.
#include "backends/cpu/kernels/row_emitter_internal.h"
#include "types/shape.h"

namespace hlokit {

void RowEmitter::EmitTile(llvm::Value* unit) {
  FindPlace(unit);
  emitter_.BeginScope();
  EmitRowValues(0);
  std::vector<Accumulators> reductions;
  Values initial;
  for (const RowForm::Reduction& r : form_.reductions) {
    reductions.emplace_back(*r.reduce, emitter_, /*in_keys=*/true).KeepOrder();
    reductions.back().AppendInitial(initial);
  }
  const int64_t column = plan_.tiles.column;
  llvm::Value* const first = multi_[column];
  llvm::Value* const first_row = row_;
  tile_.SumInBlocks(reductions);
  tile_.Begin(first, initial);
  const auto enter = [this](llvm::Value* at) { PlaceStep(at); };
  tile_.AddRows(multi_, enter, [&](const Values& before) {
    place_ = LinearOffset(b_, ElementIndex::Multi(multi_), form_.full);
    Prefetch();
    Values after;
    size_t used = 0;
    for (const Accumulators& r : reductions)
      r.AppendNext(ElementIndex::Multi(multi_, place_), before, used, after);
    return after;
  });
  tile_.ForEachStep(multi_, column, [&](llvm::Value* at) {
    PlaceStep(at);
    row_ = b_.CreateNSWAdd(first_row, at);
    const Values values = tile_.Load(at);
    size_t used = 0;
    for (const Accumulators& r : reductions) {
      const std::vector<ScalarValue> parts = r.Results(values, used);
      emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
    }
    StoreRowRoots();
  });
  emitter_.EndScope();
}

// Where a step's vector lies in the tile, and which of its lanes there are.
void RowEmitter::PlaceStep(llvm::Value* at) {
  at_ = at;
  if (plan_.cuts_off())
    mask_ =
        LanesBefore(b_.CreateNSWSub(b_.getInt64(plan_.tiles.columns), multi_[plan_.tiles.column]));
}

// Asks memory for what vectors of a later row will read; beyond an array's end that does nothing.
void RowEmitter::Prefetch() {
  constexpr int64_t kRowsAhead = 4;
  const int64_t ahead = kRowsAhead * RowMajorStrides(form_.full.dims)[plan_.tiles.reduced.back()];
  for (const Expression::Leaf& leaf : plan_.e.leaves) {
    const Shape& shape = leaf.instruction->shape();
    if (!form_.IsFull(shape) || shape.ByteSize() < plan_.target.far_bytes) continue;
    const int64_t line = plan_.target.cache_line_bytes / ByteWidth(shape.type);
    llvm::Type* element = MemoryType(b_.getContext(), shape.type);
    for (int64_t lane = 0; lane < plan_.lanes; lane += line) {
      llvm::Value* address = b_.CreateGEP(element, arrays_.operand(leaf.operand).base,
                                          b_.CreateAdd(place_, b_.getInt64(ahead + lane)));
      b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                         {address, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
    }
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
