// Dots on tensor cores: r = x * y of bf16[512,1024] and bf16[1024,512], 128 x 128 elements of r a
// block, 64 x 32 of them a warp:
//
//   tile 0 of x and y -> shared memory
//   for each 64 bytes along k:  the next tiles -> registers
//     for each 32 of these bytes:  ldmatrix fragments of x and y;  16 times mma.m16n8k16
//     registers -> the other half of shared memory;  barrier
//
// Products are exact, sums f32 in the order of the matrix unit (s32 for bytes, modulo 2^32), and
// rounded once at the end: docs/numerics.md allows any order. f8 is widened to f16 or bf16, which
// hold it exactly.
//
// Limits: the dot, and what finishes its elements, is the whole of the kernel.
#include "backends/cuda/tensor_dot_kernels.h"

#include <algorithm>

#include "backends/cuda/block_kernel.h"
#include "backends/cuda/tensor_tile_internal.h"

namespace hlokit {
namespace {

struct TensorPlan : TensorTilePlan {
  Expression e;

  int64_t Tiles(const TensorSide& side) const {
    return (side.free.size + side.tile - 1) / side.tile;
  }
  int64_t Blocks() const { return lhs.batch.size * Tiles(lhs) * Tiles(rhs); }
};

void PlanTiles(TensorPlan& plan) {
  for (TensorSide* side : {&plan.lhs, &plan.rhs})
    while (side->tile < side->free.size && side->tile < kMaxTensorTile) side->tile *= 2;
  while (plan.Blocks() < kManyBlocks && std::max(plan.lhs.tile, plan.rhs.tile) > kMinTensorTile)
    (plan.lhs.tile > plan.rhs.tile ? plan.lhs : plan.rhs).tile /= 2;
  PlanTensorLoads(plan.lhs);
  PlanTensorLoads(plan.rhs);
}

std::optional<TensorPlan> PlanTensorDot(const Expression& e) {
  const std::optional<DotSides> sides = SidesOfProduct(e);
  if (!sides.has_value()) return std::nullopt;
  TensorPlan plan;
  plan.e = e;
  static_cast<DotSide&>(plan.lhs) = sides->lhs;
  static_cast<DotSide&>(plan.rhs) = sides->rhs;
  if (!plan.ChooseTypes(ProductOf(e)->shape().type)) return std::nullopt;
  if (plan.lhs.batch.size == 0 ||
      std::min({plan.lhs.free.size, plan.rhs.free.size, plan.terms()}) < kSmall)
    return std::nullopt;
  PlanTiles(plan);
  return plan;
}

// Emits the work of one thread of a block.
class TensorDotEmitter {
 public:
  TensorDotEmitter(const TensorPlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        b_(b),
        block_(b.CreateUDiv(unit, b.Index(kBlockThreads))),
        batch_(b.CreateUDiv(unit,
                            b.Index(kBlockThreads * plan.Tiles(plan.lhs) * plan.Tiles(plan.rhs)))),
        tile_(plan, b, b.CreateAnd(unit, b.Index(kBlockThreads - 1)), batch_,
              arrays.operand(plan.lhs.array), arrays.operand(plan.rhs.array)),
        result_(b, plan.e, plan.lhs, plan.rhs, arrays, plan.sum_type, batch_) {}

  void Emit() {
    const TensorSide &lhs = plan_.lhs, &rhs = plan_.rhs;
    llvm::Value* const row_of_tiles = b_.CreateUDiv(block_, b_.Index(plan_.Tiles(rhs)));
    llvm::Value* const row = b_.CreateURem(row_of_tiles, b_.Index(plan_.Tiles(lhs)));
    llvm::Value* const column = b_.CreateURem(block_, b_.Index(plan_.Tiles(rhs)));
    const Values sums = tile_.Sums(Scale(b_, row, lhs.tile), Scale(b_, column, rhs.tile));
    tile_.Visit(sums, [&](llvm::Value* r, absl::Span<const TensorTile::Pair> pairs) {
      result_.IfRow(r, lhs.tile, [&] {
        for (const TensorTile::Pair& pair : pairs)
          result_.StorePair(r, pair.column, rhs.tile, pair.sums);
      });
    });
  }

 private:
  const TensorPlan& plan_;
  Builder& b_;
  llvm::Value *const block_, *const batch_;
  TensorTile tile_;
  DotResult result_;
};

}  // namespace

bool AddTensorDotKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<TensorDotEmitter>(PlanTensorDot(request.expression), out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
