// Dots in tiles: r = x * y of f32[256,512] and f32[512,256], 64 x 64 elements of r a block.
//
//   for k in 0, 16, 32, ..., 496:
//     barrier;  xs[16][64] = x[tile, k .. k+15] transposed;  ys[16][64] = y[k .. k+15, tile]
//     barrier;  for kk in 0 .. 15:  16 sums of each thread += 4 of xs[kk] times 4 of ys[kk]
//
// An element of an operand is read from memory once a tile instead of once an element of the
// result, and from shared memory once a thread for the 4 (or 8) sums that it is part of. Terms are
// added in their order by one thread, each product and sum fused: one rounding a term, the same
// bits on every run. Narrow floats are widened in shared memory and rounded once at the end.
//
// Operands may have any layout and any number of batch, free and summed dimensions. Threads load
// along the dimension that is fastest in memory, four neighbours each where its length allows it.
// Past the ends of matrices, loads are moved inside and, along k, replaced by zeros.
//
// Limits: the dot, and what finishes its elements, is the whole of the kernel; no complex numbers,
// no elements below a byte.
#include "backends/cuda/dot_kernels.h"

#include <algorithm>

#include "backends/cuda/block_kernel.h"
#include "backends/cuda/dot_sides.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/thread_group.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kSide = 16;  // threads of a block along rows and along columns
static_assert(kSide * kSide == kBlockThreads);
constexpr int64_t kRowPadding = 4;  // of a row in shared memory: spreads columns over its banks
constexpr int64_t kVector = 4;      // most neighbours of one load

// One side of the product, and how a tile of it is loaded.
struct Side : DotSide {
  int64_t tile = 0;         // elements of a tile along `free`
  bool along_free = false;  // whether neighbouring threads load along `free`, else `summed`
  int64_t vector = 1;       // neighbours that a thread loads at once
  int64_t per_thread() const { return tile / kSide; }
};

struct DotPlan {
  Expression e;
  Side lhs, rhs;
  ElementType sum_type = ElementType::kF32;
  int64_t depth = 16;  // terms of a tile
  int64_t Tiles(const Side& side) const { return (side.free.size + side.tile - 1) / side.tile; }
  int64_t Blocks() const { return lhs.batch.size * Tiles(lhs) * Tiles(rhs); }
  int64_t terms() const { return lhs.summed.size; }
};

bool IsSupported(ElementType type) {
  return (IsFloat(type) || IsInteger(type)) && !IsSubByte(type);
}

int64_t TileOf(int64_t size) {
  int64_t tile = kSide;
  while (tile < size && tile < 4 * kSide) tile *= 2;
  return tile;
}

void PlanLoads(Side& side, int64_t depth) {
  const Shape& shape = side.operand->shape();
  side.along_free = !side.summed.IsFastest(shape);
  const DimGroup& fast = side.along_free ? side.free : side.summed;
  if (!fast.IsFastest(shape)) return;
  const int64_t loads = side.tile * depth / kBlockThreads;
  side.vector = std::min<int64_t>({kVector, loads, 16 / ByteWidth(shape.type)});
  while (side.vector > 1 && fast.inner % side.vector != 0) side.vector /= 2;
}

void PlanTiles(DotPlan& plan) {
  plan.lhs.tile = TileOf(plan.lhs.free.size);
  plan.rhs.tile = TileOf(plan.rhs.free.size);
  const int64_t large = 8 * kSide;
  if (ByteWidth(plan.sum_type) <= 4 && plan.lhs.free.size >= large && plan.rhs.free.size >= large &&
      plan.Blocks() >= 4 * kManyBlocks) {
    plan.lhs.tile = plan.rhs.tile = large;
    plan.depth = 8;
  }
  PlanLoads(plan.lhs, plan.depth);
  PlanLoads(plan.rhs, plan.depth);
}

std::optional<DotPlan> PlanDot(const Expression& e) {
  const std::optional<DotSides> sides = SidesOfProduct(e);
  if (!sides.has_value()) return std::nullopt;
  const Instruction& dot = *ProductOf(e);
  for (const Shape& shape : {dot.shape(), dot.operand(0)->shape(), dot.operand(1)->shape()})
    if (!IsSupported(shape.type)) return std::nullopt;
  DotPlan plan;
  plan.e = e;
  static_cast<DotSide&>(plan.lhs) = sides->lhs;
  static_cast<DotSide&>(plan.rhs) = sides->rhs;
  if (!IsNarrowFloat(dot.shape().type)) plan.sum_type = dot.shape().type;
  if (plan.lhs.batch.size == 0 ||
      std::min({plan.lhs.free.size, plan.rhs.free.size, plan.terms()}) < kSmall)
    return std::nullopt;
  PlanTiles(plan);
  return plan;
}

// Emits the work of one thread of a block.
class TiledDotEmitter {
 public:
  TiledDotEmitter(const DotPlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        b_(b),
        emitter_(b),
        group_(b, kBlockThreads, b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        batch_(b.CreateUDiv(unit,
                            b.Index(kBlockThreads * plan.Tiles(plan.lhs) * plan.Tiles(plan.rhs)))),
        result_(b, plan.e, plan.lhs, plan.rhs, arrays, plan.sum_type, batch_) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(plan.e));
    BindLeaves(emitter_, plan.e, arrays);
    zero_ = EmitConvert(b, ElementType::kPred, plan.sum_type, {b.getFalse()}).re;
    llvm::Value* const block = b.CreateUDiv(unit, b.Index(kBlockThreads));
    llvm::Value* const row_of_tiles = b.CreateUDiv(block, b.Index(plan.Tiles(plan.rhs)));
    lhs_ = {&plan.lhs, b.CreateURem(row_of_tiles, b.Index(plan.Tiles(plan.lhs)))};
    rhs_ = {&plan.rhs, b.CreateURem(block, b.Index(plan.Tiles(plan.rhs)))};
    for (Tile* tile : {&lhs_, &rhs_}) {
      tile->first = Scale(b, tile->first, tile->side->tile);
      tile->shared = MakeShared(b, zero_->getType(), plan.depth * RowOf(*tile->side));
    }
  }

  void Emit() {
    const Values none(static_cast<size_t>(lhs_.side->per_thread() * rhs_.side->per_thread()),
                      zero_);
    const int64_t steps = (plan_.terms() + plan_.depth - 1) / plan_.depth;
    const Values sums =
        EmitLoopCarrying(b_, steps, none, [&](llvm::Value* step, const Values& carried) {
          emitter_.BeginScope();
          llvm::Value* const first = Scale(b_, step, plan_.depth);
          const Values l = Load(lhs_, first), r = Load(rhs_, first);
          group_.Meet();  // all have read the tiles before these
          Share(lhs_, l);
          Share(rhs_, r);
          group_.Meet();
          const Values next = AddTerms(carried);
          emitter_.EndScope();
          return next;
        });
    Store(sums);
  }

 private:
  struct Tile {
    const Side* side = nullptr;
    llvm::Value* first = nullptr;  // of the tile, along the free dimensions
    llvm::GlobalVariable* shared = nullptr;
  };
  // Where in a tile a load of a thread lies: from (free, term) on.
  struct Place {
    llvm::Value* free;
    llvm::Value* term;
  };

  static int64_t RowOf(const Side& side) { return side.tile + kRowPadding; }
  llvm::Value* Rows() { return b_.CreateUDiv(group_.lane(), b_.Index(kSide)); }
  llvm::Value* Columns() { return b_.CreateAnd(group_.lane(), b_.Index(kSide - 1)); }

  // The thread's load number `k` of a tile.
  Place PlaceOf(const Side& side, int64_t k) {
    const int64_t vectors = (side.along_free ? side.tile : plan_.depth) / side.vector;
    llvm::Value* const fast =
        Scale(b_, b_.CreateURem(group_.lane(), b_.Index(vectors)), side.vector);
    llvm::Value* const slow = b_.CreateNSWAdd(b_.CreateUDiv(group_.lane(), b_.Index(vectors)),
                                              b_.Index(k * (kBlockThreads / vectors)));
    return side.along_free ? Place{fast, slow} : Place{slow, fast};
  }

  int64_t Loads(const Side& side) const {
    return side.tile * plan_.depth / (kBlockThreads * side.vector);
  }

  // `at`, or the last place from which `vector` elements lie before `size`.
  llvm::Value* Inside(llvm::Value* at, int64_t size, int64_t vector, int64_t step) {
    if (size % step == 0) return at;
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, b_.Index(size - vector));
  }

  // The thread's elements of the tile whose terms begin at `term`.
  Values Load(const Tile& tile, llvm::Value* term) {
    const Side& side = *tile.side;
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
        loaded.push_back(plan_.terms() % plan_.depth == 0
                             ? element
                             : b_.CreateSelect(b_.CreateICmpULT(wanted, b_.Index(plan_.terms())),
                                               element, zero_));
    }
    return loaded;
  }

  Values LoadVector(const Side& side, llvm::Value* free, llvm::Value* term) {
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

  llvm::Value* SharedPlace(const Tile& tile, llvm::Value* term, llvm::Value* free) {
    llvm::Value* const at = b_.CreateNSWAdd(Scale(b_, term, RowOf(*tile.side)), free);
    return b_.CreateInBoundsGEP(tile.shared->getValueType(), tile.shared, {b_.Index(0), at});
  }

  void Share(const Tile& tile, const Values& loaded) {
    const Side& side = *tile.side;
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

  // The neighbours from `first` on of a term's row in shared memory.
  Values ReadShared(const Tile& tile, int64_t term, llvm::Value* first) {
    Values values;
    for (int64_t k = 0; k < tile.side->per_thread(); ++k)
      values.push_back(
          b_.CreateLoad(zero_->getType(),
                        SharedPlace(tile, b_.Index(term), b_.CreateNSWAdd(first, b_.Index(k)))));
    return values;
  }

  llvm::Value* MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* sum) {
    if (IsFloat(plan_.sum_type))
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, sum});
    return b_.CreateAdd(b_.CreateMul(x, y), sum);
  }

  Values AddTerms(Values sums) {
    llvm::Value* const row = Scale(b_, Rows(), lhs_.side->per_thread());
    llvm::Value* const column = Scale(b_, Columns(), rhs_.side->per_thread());
    for (int64_t term = 0; term < plan_.depth; ++term) {
      const Values x = ReadShared(lhs_, term, row), y = ReadShared(rhs_, term, column);
      for (size_t i = 0; i < x.size(); ++i)
        for (size_t j = 0; j < y.size(); ++j) {
          llvm::Value*& sum = sums[i * y.size() + j];
          sum = MultiplyAdd(x[i], y[j], sum);
        }
    }
    return sums;
  }

  void Store(const Values& sums) {
    const int64_t rows = lhs_.side->per_thread(), columns = rhs_.side->per_thread();
    llvm::Value* const row = b_.CreateNSWAdd(lhs_.first, Scale(b_, Rows(), rows));
    llvm::Value* const column = b_.CreateNSWAdd(rhs_.first, Scale(b_, Columns(), columns));
    for (int64_t i = 0; i < rows; ++i) {
      llvm::Value* const r = b_.CreateNSWAdd(row, b_.Index(i));
      result_.IfRow(r, lhs_.side->tile, [&] { StoreRow(sums, i * columns, r, column); });
    }
  }

  void StoreRow(const Values& sums, int64_t next, llvm::Value* row, llvm::Value* column) {
    const int64_t columns = rhs_.side->per_thread();
    const bool all = rhs_.side->free.size % columns == 0;  // of a thread's, or none, are inside
    const auto store = [&](int64_t k) {
      llvm::Value* const c = b_.CreateNSWAdd(column, b_.Index(k));
      const auto one = [&] { result_.Store(row, c, sums[next + k]); };
      all ? one() : result_.IfColumn(c, rhs_.side->tile, one);
    };
    const auto store_all = [&] {
      for (int64_t k = 0; k < columns; ++k) store(k);
    };
    all ? result_.IfColumn(column, rhs_.side->tile, store_all) : store_all();
  }

  const DotPlan& plan_;
  Builder& b_;
  ElementEmitter emitter_;
  ThreadGroup group_;
  llvm::Value* const batch_;
  DotResult result_;
  llvm::Value* zero_ = nullptr;
  Tile lhs_, rhs_;
};

}  // namespace

bool AddTiledDotKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<TiledDotEmitter>(PlanDot(request.expression), out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
