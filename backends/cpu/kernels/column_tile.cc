// A tile of accumulators, contiguous in memory, to which rows are added one after the other.
//   f32[1000,512] -> f32[512], tiles of 256 columns, steps of 16:
//     acc[0..255] = init
//     for each four rows r: for each step s: v = acc[s]; v += x[r][s]; ... v += x[r + 3][s]; acc[s]
//     = v
// Each row is read from left to right, in pieces of a tile's width, and the accumulators stay in
// the first-level cache. They are loaded and stored once per rows_at_once rows, so that the loop is
// bound by reading the array. The sum of a column runs in the order of the rows, whatever the tile.
#include "backends/cpu/kernels/column_tile_internal.h"

#include <algorithm>

namespace hlokit {
namespace {

constexpr int64_t kRowsAtOnce = 4;
constexpr size_t kLongBody = 16;

}  // namespace

int64_t RowsAtOnce(size_t body) { return body > kLongBody ? 1 : kRowsAtOnce; }

llvm::Type* ColumnTile::StepOf(llvm::Type* element) const {
  if (plan_.lanes == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(plan_.lanes));
}

void ColumnTile::Allocate(const Values& initial) {
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  Builder b(&entry, entry.begin());
  for (llvm::Value* value : initial) {
    types_.push_back(value->getType());
    // Truth values take a byte each: LLVM makes no vectors of loops over single bits.
    llvm::Type* stored = value->getType()->isIntegerTy(1) ? b.getInt8Ty() : value->getType();
    llvm::AllocaInst* array = b.CreateAlloca(stored, b.getInt64(plan_.width));
    array->setAlignment(llvm::Align(64));
    arrays_.push_back(array);
  }
}

void ColumnTile::Begin(llvm::Value* first, const Values& initial) {
  if (arrays_.empty()) Allocate(initial);
  const auto steps_of = [this](int64_t columns) {
    return b_.getInt64((columns + plan_.lanes - 1) / plan_.lanes);
  };
  first_ = first;
  steps_ = steps_of(std::min(plan_.width, plan_.columns));
  if (plan_.count() > 1 && plan_.columns % plan_.width != 0) {
    llvm::Value* left = b_.CreateNSWSub(b_.getInt64(plan_.columns + plan_.lanes - 1), first);
    if (plan_.lanes > 1) left = b_.CreateUDiv(left, b_.getInt64(plan_.lanes));
    steps_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, steps_, left);
  }
  std::vector<llvm::Value*> index(plan_.from.rank());
  ForEachStep(index, plan_.column, [&](llvm::Value* at) {
    Values values;
    for (llvm::Value* value : initial)
      values.push_back(plan_.lanes == 1
                           ? value
                           : b_.CreateVectorSplat(static_cast<unsigned>(plan_.lanes), value));
    Store(at, values);
  });
}

void ColumnTile::ForEachStep(std::vector<llvm::Value*>& index, int64_t dimension,
                             absl::FunctionRef<void(llvm::Value*)> body) {
  EmitLoop(b_, b_.getInt64(0), steps_, [&](llvm::Value* step) {
    llvm::Value* at = Scale(b_, step, plan_.lanes);
    index[dimension] = b_.CreateNSWAdd(first_, at);
    emitter_.BeginScope();
    body(at);
    emitter_.EndScope();
  });
}

void ColumnTile::AddRows(size_t level, std::vector<llvm::Value*>& index, Enter enter, Add add) {
  const int64_t d = plan_.reduced[level], size = plan_.from.dims[d];
  if (level + 1 < plan_.reduced.size()) {
    EmitLoop(b_, size, [&](llvm::Value* at) {
      index[d] = at;
      emitter_.BeginScope();
      AddRows(level + 1, index, enter, add);
      emitter_.EndScope();
    });
    return;
  }
  const int64_t rows = plan_.rows_at_once;
  EmitLoop(b_, size / rows,
           [&](llvm::Value* block) { AddBlock(Scale(b_, block, rows), rows, index, enter, add); });
  if (const int64_t rest = size % rows; rest > 0)
    AddBlock(b_.getInt64(size - rest), rest, index, enter, add);
}

// Adds rows `row` .. `row` + rows - 1 of the last reduced dimension.
void ColumnTile::AddBlock(llvm::Value* row, int64_t rows, std::vector<llvm::Value*>& index,
                          Enter enter, Add add) {
  ForEachStep(index, plan_.column, [&](llvm::Value* at) {
    enter(at);
    Values values = Load(at);
    for (int64_t k = 0; k < rows; ++k) {
      index[plan_.reduced.back()] = b_.CreateNSWAdd(row, b_.getInt64(k));
      emitter_.BeginScope();
      values = add(values);
      emitter_.EndScope();
    }
    Store(at, values);
  });
}

llvm::Value* ColumnTile::Address(size_t k, llvm::Value* at) {
  llvm::Type* element = llvm::cast<llvm::AllocaInst>(arrays_[k])->getAllocatedType();
  return b_.CreateInBoundsGEP(element, arrays_[k], at);
}

Values ColumnTile::Load(llvm::Value* at) {
  Values values;
  for (size_t k = 0; k < arrays_.size(); ++k) {
    llvm::Type* stored = llvm::cast<llvm::AllocaInst>(arrays_[k])->getAllocatedType();
    llvm::LoadInst* load = b_.CreateLoad(StepOf(stored), Address(k, at));
    if (plan_.lanes > 1) load->setAlignment(llvm::Align(64));
    values.push_back(stored == types_[k] ? load : b_.CreateTrunc(load, StepOf(types_[k])));
  }
  return values;
}

void ColumnTile::Store(llvm::Value* at, const Values& values) {
  for (size_t k = 0; k < values.size(); ++k) {
    llvm::Type* stored = llvm::cast<llvm::AllocaInst>(arrays_[k])->getAllocatedType();
    llvm::Value* value = stored == types_[k] ? values[k] : b_.CreateZExt(values[k], StepOf(stored));
    llvm::StoreInst* store = b_.CreateStore(value, Address(k, at));
    if (plan_.lanes > 1) store->setAlignment(llvm::Align(64));
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
