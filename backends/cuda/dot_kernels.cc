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
#include "backends/cuda/dot_tile_internal.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

struct DotPlan : DotTilePlan {
  Expression e;
  int64_t Tiles(const TileSide& side) const { return (side.free.size + side.tile - 1) / side.tile; }
  int64_t Blocks() const { return lhs.batch.size * Tiles(lhs) * Tiles(rhs); }
};

bool IsSupported(ElementType type) {
  return (IsFloat(type) || IsInteger(type)) && !IsSubByte(type);
}

void PlanTiles(DotPlan& plan) {
  plan.lhs.tile = DotTileOf(plan.lhs.free.size);
  plan.rhs.tile = DotTileOf(plan.rhs.free.size);
  const int64_t large = 8 * kTileThreads;
  if (ByteWidth(plan.sum_type) <= 4 && plan.lhs.free.size >= large && plan.rhs.free.size >= large &&
      plan.Blocks() >= 4 * kManyBlocks) {
    plan.lhs.tile = plan.rhs.tile = large;
    plan.depth = 8;
  }
  PlanTileLoads(plan.lhs, plan.depth);
  PlanTileLoads(plan.rhs, plan.depth);
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
        block_(b.CreateUDiv(unit, b.Index(kBlockThreads))),
        batch_(b.CreateUDiv(unit,
                            b.Index(kBlockThreads * plan.Tiles(plan.lhs) * plan.Tiles(plan.rhs)))),
        tile_(plan, b, emitter_, b.CreateAnd(unit, b.Index(kBlockThreads - 1)), batch_),
        result_(b, plan.e, plan.lhs, plan.rhs, arrays, plan.sum_type, batch_) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(plan.e));
    BindLeaves(emitter_, plan.e, arrays);
  }

  void Emit() {
    const TileSide &lhs = plan_.lhs, &rhs = plan_.rhs;
    llvm::Value* const row_of_tiles = b_.CreateUDiv(block_, b_.Index(plan_.Tiles(rhs)));
    llvm::Value* const row = b_.CreateURem(row_of_tiles, b_.Index(plan_.Tiles(lhs)));
    llvm::Value* const column = b_.CreateURem(block_, b_.Index(plan_.Tiles(rhs)));
    Store(tile_.Sums(Scale(b_, row, lhs.tile), Scale(b_, column, rhs.tile)));
  }

 private:
  void Store(const Values& sums) {
    llvm::Value *const row = tile_.FirstRow(), *const column = tile_.FirstColumn();
    for (int64_t i = 0; i < plan_.lhs.per_thread(); ++i) {
      llvm::Value* const r = b_.CreateNSWAdd(row, b_.Index(i));
      result_.IfRow(r, plan_.lhs.tile,
                    [&] { StoreRow(sums, i * plan_.rhs.per_thread(), r, column); });
    }
  }

  void StoreRow(const Values& sums, int64_t next, llvm::Value* row, llvm::Value* column) {
    const int64_t columns = plan_.rhs.per_thread();
    const bool all = plan_.rhs.free.size % columns == 0;  // of a thread's, or none, are inside
    const auto store = [&](int64_t k) {
      llvm::Value* const c = b_.CreateNSWAdd(column, b_.Index(k));
      const auto one = [&] { result_.Store(row, c, sums[next + k]); };
      all ? one() : result_.IfColumn(c, plan_.rhs.tile, one);
    };
    const auto store_all = [&] {
      for (int64_t k = 0; k < columns; ++k) store(k);
    };
    all ? result_.IfColumn(column, plan_.rhs.tile, store_all) : store_all();
  }

  const DotPlan& plan_;
  Builder& b_;
  ElementEmitter emitter_;
  llvm::Value *const block_, *const batch_;
  DotTile tile_;
  DotResult result_;
};

}  // namespace

bool AddTiledDotKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<TiledDotEmitter>(PlanDot(request.expression), out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
