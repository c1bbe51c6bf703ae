// Column reductions without elementwise work on top: a tile of accumulators in the first-level
// cache, wide enough that memory is read in pieces of about 2 KB. kRowsTogether rows are added
// while an accumulator vector is in a register, and arrays beyond TargetInfo::far_bytes are
// prefetched kRowsAhead rows ahead: the hardware prefetcher reacts too late to pieces that are a
// row apart.
#include <algorithm>

#include "backends/cpu/kernels/row_emitter_internal.h"
#include "types/shape.h"

namespace hlokit {
namespace {

// Rows reduced while a vector of accumulators is in a register, and how far ahead of them rows
// are asked for: what the processor sees by itself of pieces that lie apart comes too late.
constexpr int64_t kRowsTogether = 4, kRowsAhead = 4;
// Instructions that are not worth being written twice.
constexpr size_t kLongBody = 16;

}  // namespace

void RowEmitter::EmitTile(llvm::Value* unit) {
  FindPlace(unit);
  emitter_.BeginScope();
  EmitRowValues(0);
  tile_.running.clear();
  for (const RowForm::Reduction& r : form_.reductions) {
    tile_.running.emplace_back(*r.reduce, emitter_, /*in_keys=*/true);
    tile_.running.back().KeepOrder();
  }
  Values initial;
  for (const RunningReduction& r : tile_.running) r.AppendInitial(initial);
  MakeTile(initial);
  ForVectors([&] {
    Values first;
    for (llvm::Value* value : initial) first.push_back(Splat(value));
    StoreRunning(first);
  });
  EmitTileRows(0);
  ForVectors([&] { FinishVector(); });
  emitter_.EndScope();
}

void RowEmitter::MakeTile(const Values& initial) {
  const int64_t columns = plan_.beside.count;
  tile_.first = multi_[plan_.beside.dims.back()];
  tile_.row = row_;
  const int64_t most = std::min(plan_.tile, columns);
  tile_.vectors = b_.getInt64((most + plan_.lanes - 1) / plan_.lanes);
  if (plan_.tiles() > 1 && columns % plan_.tile != 0) {
    llvm::Value* left = b_.CreateNSWSub(b_.getInt64(columns + plan_.lanes - 1), tile_.first);
    tile_.vectors = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, tile_.vectors,
                                             b_.CreateUDiv(left, b_.getInt64(plan_.lanes)));
  }
  if (!tile_.rooms.empty()) return;
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  Builder b(&entry, entry.begin());
  for (llvm::Value* value : initial) {
    llvm::AllocaInst* room = b.CreateAlloca(value->getType(), b.getInt64(plan_.tile));
    room->setAlignment(llvm::Align(64));
    tile_.rooms.push_back(room);
    tile_.types.push_back(
        llvm::FixedVectorType::get(value->getType(), static_cast<unsigned>(plan_.lanes)));
  }
}

// Loops over the tile's vectors, with the places of each.
void RowEmitter::ForVectors(absl::FunctionRef<void()> body) {
  EmitLoop(b_, b_.getInt64(0), tile_.vectors, [&](llvm::Value* vector) {
    at_ = Scale(b_, vector, plan_.lanes);
    llvm::Value* column = b_.CreateNSWAdd(tile_.first, at_);
    multi_[plan_.beside.dims.back()] = column;
    if (plan_.cuts_off())
      mask_ = LanesBefore(b_.CreateNSWSub(b_.getInt64(plan_.beside.count), column));
    emitter_.BeginScope();
    body();
    emitter_.EndScope();
  });
}

llvm::Value* RowEmitter::RunningAddress(size_t k) {
  return b_.CreateInBoundsGEP(tile_.types[k]->getScalarType(), tile_.rooms[k], at_);
}

void RowEmitter::StoreRunning(const Values& values) {
  for (size_t k = 0; k < values.size(); ++k)
    b_.CreateAlignedStore(values[k], RunningAddress(k), llvm::Align(64));
}

Values RowEmitter::LoadRunning() {
  Values values;
  for (size_t k = 0; k < tile_.rooms.size(); ++k)
    values.push_back(b_.CreateAlignedLoad(tile_.types[k], RunningAddress(k), llvm::Align(64)));
  return values;
}

void RowEmitter::EmitTileRows(size_t level) {
  const int64_t d = plan_.beside.outer[level], size = form_.full.dims[d];
  if (level + 1 < plan_.beside.outer.size()) {
    EmitLoop(b_, size, [&](llvm::Value* step) {
      multi_[d] = step;
      EmitTileRows(level + 1);
    });
    return;
  }
  const int64_t together = plan_.body.size() > kLongBody ? 1 : kRowsTogether;
  EmitLoop(b_, size / together,
           [&](llvm::Value* block) { ReduceRows(Scale(b_, block, together), together); });
  if (const int64_t rest = size % together; rest > 0) ReduceRows(b_.getInt64(size - rest), rest);
}

// Reduces rows `row` .. `row` + rows - 1 of the last reduced dimension, in order.
void RowEmitter::ReduceRows(llvm::Value* row, int64_t rows) {
  ForVectors([&] {
    Values values = LoadRunning();
    for (int64_t k = 0; k < rows; ++k) {
      multi_[plan_.beside.outer.back()] = b_.CreateNSWAdd(row, b_.getInt64(k));
      place_ = LinearOffset(b_, ElementIndex::Multi(multi_), form_.full);
      Prefetch();
      emitter_.BeginScope();
      Values next;
      size_t used = 0;
      for (const RunningReduction& r : tile_.running)
        r.AppendNext(ElementIndex::Multi(multi_, place_), values, used, next);
      values = std::move(next);
      emitter_.EndScope();
    }
    StoreRunning(values);
  });
}

// Asks memory for what vectors of a later row will read; beyond an array's end that does nothing.
void RowEmitter::Prefetch() {
  const int64_t ahead = kRowsAhead * RowMajorStrides(form_.full.dims)[plan_.beside.outer.back()];
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

void RowEmitter::FinishVector() {
  row_ = b_.CreateNSWAdd(tile_.row, at_);
  const Values values = LoadRunning();
  size_t used = 0;
  for (const RunningReduction& r : tile_.running) {
    const std::vector<ScalarValue> parts = r.Results(values, used);
    emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
  }
  StoreRowRoots();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
