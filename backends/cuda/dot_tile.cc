// Tiles of products: loads, shared memory, sums in registers.
#include "backends/cuda/dot_tile_internal.h"

#include <algorithm>

#include "codegen/scalars/ops.h"

namespace hlokit {
namespace {

constexpr int64_t kRowPadding = 4;  // of a row in shared memory: spreads columns over its banks
constexpr int64_t kVector = 4;      // most neighbours of one load

}  // namespace

int64_t DotTileOf(int64_t size) {
  int64_t tile = kTileThreads;
  while (tile < size && tile < 4 * kTileThreads) tile *= 2;
  return tile;
}

void PlanTileLoads(TileSide& side, int64_t depth) {
  const Shape& shape = side.operand->shape();
  side.along_free = !side.summed.IsFastest(shape);
  const DimGroup& fast = side.along_free ? side.free : side.summed;
  if (!fast.IsFastest(shape)) return;
  const int64_t loads = side.tile * depth / kBlockThreads;
  side.vector = std::min<int64_t>({kVector, loads, 16 / ByteWidth(shape.type)});
  while (side.vector > 1 && fast.inner % side.vector != 0) side.vector /= 2;
}

DotTile::DotTile(const DotTilePlan& plan, Builder& b, ElementEmitter& emitter, llvm::Value* thread,
                 llvm::Value* batch, SharedRows rows)
    : plan_(plan),
      b_(b),
      emitter_(emitter),
      group_(b, kBlockThreads, thread),
      batch_(batch),
      rows_(rows),
      zero_(EmitConvert(b, ElementType::kPred, plan.sum_type, {b.getFalse()}).re) {
  const auto make_tile = [&](const TileSide& side) {
    return Tile{&side, nullptr, MakeShared(b, zero_->getType(), plan.depth * RowOf(side))};
  };
  if (rows_.base == nullptr) lhs_ = make_tile(plan.lhs);
  rhs_ = make_tile(plan.rhs);
}

Values DotTile::NoSums() const {
  return Values(static_cast<size_t>(plan_.lhs.per_thread() * plan_.rhs.per_thread()), zero_);
}

Values DotTile::Sums(llvm::Value* first_row, llvm::Value* first_column) {
  return AddSums(first_row, first_column, b_.Index(0), b_.Index(Steps()), NoSums());
}

Values DotTile::AddSums(llvm::Value* first_row, llvm::Value* first_column, llvm::Value* term,
                        llvm::Value* steps, const Values& sums) {
  MoveTo(first_row, first_column);
  return EmitLoopCarrying(
      b_, b_.Index(0), steps, sums, [&](llvm::Value* step, const Values& carried) {
        emitter_.BeginScope();
        llvm::Value* const within = Scale(b_, step, plan_.depth);
        llvm::Value* const first = b_.CreateNSWAdd(term, within);
        const bool loads_left = rows_.base == nullptr;
        const Values l = loads_left ? Load(lhs_, first) : Values(), r = Load(rhs_, first);
        group_.Meet();  // all have read the tiles before these
        if (loads_left) Share(lhs_, l);
        Share(rhs_, r);
        group_.Meet();
        Values next = AddTerms(carried, within);
        emitter_.EndScope();
        return next;
      });
}

Values DotTile::ChangeRows(
    const Values& sums,
    absl::FunctionRef<llvm::Value*(llvm::Value* row, llvm::Value* sum)> change) {
  const int64_t across = plan_.rhs.per_thread();
  Values changed;
  for (int64_t k = 0; k < plan_.lhs.per_thread(); ++k) {
    llvm::Value* const row = b_.CreateNSWAdd(FirstRow(), b_.Index(k));
    for (int64_t n = 0; n < across; ++n)
      changed.push_back(change(row, sums[static_cast<size_t>(k * across + n)]));
  }
  return changed;
}

int64_t DotTile::RowOf(const TileSide& side) { return side.tile + kRowPadding; }

llvm::Value* DotTile::Rows() { return b_.CreateUDiv(group_.lane(), b_.Index(kTileThreads)); }

llvm::Value* DotTile::Columns() { return b_.CreateAnd(group_.lane(), b_.Index(kTileThreads - 1)); }

DotTile::Place DotTile::PlaceOf(const TileSide& side, int64_t k) {
  const int64_t vectors = (side.along_free ? side.tile : plan_.depth) / side.vector;
  llvm::Value* const fast = Scale(b_, b_.CreateURem(group_.lane(), b_.Index(vectors)), side.vector);
  llvm::Value* const slow = b_.CreateNSWAdd(b_.CreateUDiv(group_.lane(), b_.Index(vectors)),
                                            b_.Index(k * (kBlockThreads / vectors)));
  return side.along_free ? Place{fast, slow} : Place{slow, fast};
}

int64_t DotTile::Loads(const TileSide& side) const {
  return side.tile * plan_.depth / (kBlockThreads * side.vector);
}

llvm::Value* DotTile::Inside(llvm::Value* at, int64_t size, int64_t vector, int64_t step) {
  if (size % step == 0) return at;
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, b_.Index(size - vector));
}

Values DotTile::Load(const Tile& tile, llvm::Value* term) {
  const TileSide& side = *tile.side;
  Values loaded;
  for (int64_t k = 0; k < Loads(side); ++k) {
    const Place place = PlaceOf(side, k);
    llvm::Value* const wanted = b_.CreateNSWAdd(term, place.term);
    llvm::Value* const at =
        Inside(wanted, side.summed.size, side.along_free ? 1 : side.vector, plan_.depth);
    llvm::Value* const free = Inside(b_.CreateNSWAdd(tile.first, place.free), side.free.size,
                                     side.along_free ? side.vector : 1, side.tile);
    const Values elements = LoadVector(side, free, at);
    for (llvm::Value* const element : elements)
      loaded.push_back(
          plan_.terms() % plan_.depth == 0
              ? element
              : b_.CreateSelect(b_.CreateICmpULT(wanted, b_.Index(plan_.terms())), element, zero_));
  }
  return loaded;
}

Values DotTile::LoadVector(const TileSide& side, llvm::Value* free, llvm::Value* term) {
  MatrixElement place = side.At(b_, batch_, free, term);
  Values elements;
  for (int64_t k = 0; k < side.vector; ++k) {
    if (k > 0) {
      llvm::Value*& at = place.multi[(side.along_free ? side.free : side.summed).dims.back()];
      at = b_.CreateNSWAdd(at, b_.Index(1));
    }
    const ScalarValue x = emitter_.Emit(side.operand, ElementIndex::Multi(place.multi));
    llvm::Value* const element =
        EmitConvert(b_, emitter_.TypeOf(side.operand->shape()), plan_.sum_type, x).re;
    elements.push_back(place.inside == nullptr ? element
                                               : b_.CreateSelect(place.inside, element, zero_));
  }
  return elements;
}

llvm::Value* DotTile::SharedPlace(const Tile& tile, llvm::Value* term, llvm::Value* free) {
  llvm::Value* const at = b_.CreateNSWAdd(Scale(b_, term, RowOf(*tile.side)), free);
  return b_.CreateInBoundsGEP(tile.shared->getValueType(), tile.shared, {b_.Index(0), at});
}

void DotTile::Share(const Tile& tile, const Values& loaded) {
  const TileSide& side = *tile.side;
  size_t next = 0;
  for (int64_t k = 0; k < Loads(side); ++k) {
    const Place place = PlaceOf(side, k);
    for (int64_t v = 0; v < side.vector; ++v) {
      llvm::Value* const step = b_.Index(v);
      llvm::Value* const free = side.along_free ? b_.CreateNSWAdd(place.free, step) : place.free;
      llvm::Value* const term = side.along_free ? place.term : b_.CreateNSWAdd(place.term, step);
      b_.CreateStore(loaded[next++], SharedPlace(tile, term, free));
    }
  }
}

Values DotTile::ReadShared(const Tile& tile, int64_t term, llvm::Value* first) {
  Values values;
  for (int64_t k = 0; k < tile.side->per_thread(); ++k)
    values.push_back(b_.CreateLoad(
        zero_->getType(), SharedPlace(tile, b_.Index(term), b_.CreateNSWAdd(first, b_.Index(k)))));
  return values;
}

llvm::Value* DotTile::MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* sum) {
  if (IsFloat(plan_.sum_type))
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, sum});
  return b_.CreateAdd(b_.CreateMul(x, y), sum);
}

Values DotTile::ReadRows(llvm::Value* term, llvm::Value* first) {
  Values values;
  for (int64_t k = 0; k < plan_.lhs.per_thread(); ++k) {
    llvm::Value* const line =
        Scale(b_, b_.CreateNSWAdd(first, b_.Index(k)), rows_.line_bytes / ByteWidth(rows_.type));
    const ArrayRef row{rows_.base, Shape::Array(rows_.type, {1})};
    const ScalarValue x = LoadFrom(b_, row, ElementIndex::Linear(b_.CreateNSWAdd(line, term)));
    values.push_back(EmitConvert(b_, rows_.type, plan_.sum_type, x).re);
  }
  return values;
}

Values DotTile::AddTerms(Values sums, llvm::Value* first_term) {
  llvm::Value* const row = Scale(b_, Rows(), plan_.lhs.per_thread());
  llvm::Value* const column = Scale(b_, Columns(), plan_.rhs.per_thread());
  for (int64_t term = 0; term < plan_.depth; ++term) {
    const Values x = rows_.base == nullptr
                         ? ReadShared(lhs_, term, row)
                         : ReadRows(b_.CreateNSWAdd(first_term, b_.Index(term)), row);
    const Values y = ReadShared(rhs_, term, column);
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t j = 0; j < y.size(); ++j) {
        llvm::Value*& sum = sums[i * y.size() + j];
        sum = MultiplyAdd(x[i], y[j], sum);
      }
  }
  return sums;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
