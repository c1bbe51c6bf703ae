// A tile of accumulators, contiguous in memory, to which rows are added one after the other.
//   f32[1000,512] -> f32[512], tiles of 256 columns, steps of 16:
//     acc[0..255] = init
//     for each four rows r: for each step s: v = acc[s]; v += x[r][s]; ... v += x[r + 3][s]; acc[s]
//     = v
// Each row is read from left to right, in pieces of a tile's width, and the accumulators stay in
// the first-level cache. They are loaded and stored once per rows_at_once rows, so that the loop is
// bound by reading the array. The sum of a column runs in the order of the rows, whatever the tile;
// one of very many rows in blocks of them.
#include "backends/cpu/kernels/column_tile_internal.h"

#include <algorithm>

namespace hlokit {
namespace {

constexpr int64_t kRowsAtOnce = 4;
constexpr size_t kLongBody = 16;
// Sums of more rows are made in blocks of kRowsOfASum rows, or of a slower dimension's rows where
// these are not few: rounding then grows with the length of a block and the number of blocks. A sum
// of 281,250 equal numbers was off by 2.6e-3, and is by 1e-5.
constexpr int64_t kManyRows = 2048, kRowsOfASum = 512, kFewRows = 16;

}  // namespace

int64_t ColumnTilePlan::rows() const {
  int64_t rows = 1;
  for (const int64_t d : reduced) rows *= from.dims[d];
  return rows;
}

int64_t RowsAtOnce(size_t body) { return body > kLongBody ? 1 : kRowsAtOnce; }

llvm::Type* ColumnTile::StepOf(llvm::Type* element) const {
  if (plan_.lanes == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(plan_.lanes));
}

void ColumnTile::SumInBlocks(const std::vector<Accumulators>& reductions) {
  const bool sums = std::all_of(reductions.begin(), reductions.end(),
                                [](const Accumulators& r) { return r.IsSum(); });
  sums_ = sums && plan_.rows() > kManyRows ? &reductions : nullptr;
}

void ColumnTile::Allocate(const Values& initial) {
  for (llvm::Value* value : initial) types_.push_back(value->getType());
  arrays_ = AllocateArrays(initial);
  if (sums_ != nullptr) totals_ = AllocateArrays(initial);
}

ColumnTile::Arrays ColumnTile::AllocateArrays(const Values& initial) {
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  Builder b(&entry, entry.begin());
  Arrays arrays;
  for (llvm::Value* value : initial) {
    // Truth values take a byte each: LLVM makes no vectors of loops over single bits.
    llvm::Type* stored = value->getType()->isIntegerTy(1) ? b.getInt8Ty() : value->getType();
    llvm::AllocaInst* array = b.CreateAlloca(stored, b.getInt64(plan_.width));
    array->setAlignment(llvm::Align(64));
    arrays.push_back(array);
  }
  return arrays;
}

llvm::Value* ColumnTile::Splat(llvm::Value* value) {
  return plan_.lanes == 1 ? value : b_.CreateVectorSplat(static_cast<unsigned>(plan_.lanes), value);
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
    Values values, identities;
    for (llvm::Value* value : initial) values.push_back(Splat(value));
    Store(sums_ != nullptr ? totals_ : arrays_, at, values);
    if (sums_ == nullptr) return;
    for (const Accumulators& sum : *sums_) identities.push_back(Splat(sum.IdentityElement()));
    Store(arrays_, at, identities);
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
  const int64_t blocks = sums_ != nullptr ? size / kRowsOfASum : 0;
  EmitLoop(b_, blocks, [&](llvm::Value* block) {
    AddLastRows(Scale(b_, block, kRowsOfASum), kRowsOfASum, index, enter, add);
    EndBlock(index, /*last=*/false);
  });
  const int64_t rest = size - blocks * kRowsOfASum;
  AddLastRows(b_.getInt64(size - rest), rest, index, enter, add);
  if (sums_ != nullptr && level > 0 && rest >= kFewRows) EndBlock(index, /*last=*/false);
}

// Adds `count` rows of the last reduced dimension from `begin` on.
void ColumnTile::AddLastRows(llvm::Value* begin, int64_t count, std::vector<llvm::Value*>& index,
                             Enter enter, Add add) {
  const int64_t rows = plan_.rows_at_once, rest = count % rows;
  EmitLoop(b_, count / rows, [&](llvm::Value* block) {
    AddBlock(b_.CreateNSWAdd(begin, Scale(b_, block, rows)), rows, index, enter, add);
  });
  if (rest > 0)
    AddBlock(b_.CreateNSWAdd(begin, b_.getInt64(count - rest)), rest, index, enter, add);
}

// Adds the sums of a block to the totals and begins another; at the end the totals are what the
// accumulators hold.
void ColumnTile::EndBlock(std::vector<llvm::Value*>& index, bool last) {
  ForEachStep(index, plan_.column, [&](llvm::Value* at) {
    Values totals = Load(totals_, at), identities;
    const Values block = Load(arrays_, at);
    for (size_t k = 0; k < totals.size(); ++k) {
      totals[k] = (*sums_)[k].Combine(totals[k], block[k]);
      identities.push_back(Splat((*sums_)[k].IdentityElement()));
    }
    Store(last ? arrays_ : totals_, at, totals);
    if (!last) Store(arrays_, at, identities);
  });
}

// Adds rows `row` .. `row` + rows - 1 of the last reduced dimension.
void ColumnTile::AddBlock(llvm::Value* row, int64_t rows, std::vector<llvm::Value*>& index,
                          Enter enter, Add add) {
  ForEachStep(index, plan_.column, [&](llvm::Value* at) {
    enter(at);
    Values values = Load(arrays_, at);
    for (int64_t k = 0; k < rows; ++k) {
      index[plan_.reduced.back()] = b_.CreateNSWAdd(row, b_.getInt64(k));
      emitter_.BeginScope();
      values = add(values);
      emitter_.EndScope();
    }
    Store(arrays_, at, values);
  });
}

Values ColumnTile::Load(llvm::Value* at) { return Load(arrays_, at); }

Values ColumnTile::Load(const Arrays& arrays, llvm::Value* at) {
  Values values;
  for (size_t k = 0; k < arrays.size(); ++k) {
    llvm::Type* stored = llvm::cast<llvm::AllocaInst>(arrays[k])->getAllocatedType();
    llvm::Value* address = b_.CreateInBoundsGEP(stored, arrays[k], at);
    llvm::LoadInst* load = b_.CreateLoad(StepOf(stored), address);
    if (plan_.lanes > 1) load->setAlignment(llvm::Align(64));
    values.push_back(stored == types_[k] ? load : b_.CreateTrunc(load, StepOf(types_[k])));
  }
  return values;
}

void ColumnTile::Store(const Arrays& arrays, llvm::Value* at, const Values& values) {
  for (size_t k = 0; k < values.size(); ++k) {
    llvm::Type* stored = llvm::cast<llvm::AllocaInst>(arrays[k])->getAllocatedType();
    llvm::Value* value = stored == types_[k] ? values[k] : b_.CreateZExt(values[k], StepOf(stored));
    llvm::StoreInst* store = b_.CreateStore(value, b_.CreateInBoundsGEP(stored, arrays[k], at));
    if (plan_.lanes > 1) store->setAlignment(llvm::Align(64));
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
