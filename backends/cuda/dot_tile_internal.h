// A tile of a product of numbers of any type, computed by the threads of one block: what kernels of
// dots and of attention share. dot_kernels.cc tells how.
#pragma once

#include "backends/cuda/dot_sides.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/shared_rows_internal.h"
#include "backends/cuda/thread_group.h"

namespace hlokit {

inline constexpr int64_t kTileThreads = 16;  // of a block along rows and along columns
static_assert(kTileThreads * kTileThreads == kBlockThreads);

// One side of the product, and how a tile of it is loaded.
struct TileSide : DotSide {
  int64_t tile = 0;         // elements of a tile along `free`
  bool along_free = false;  // whether neighbouring threads load along `free`, else `summed`
  int64_t vector = 1;       // neighbours that a thread loads at once
  int64_t per_thread() const { return tile / kTileThreads; }
};

struct DotTilePlan {
  TileSide lhs, rhs;
  ElementType sum_type = ElementType::kF32;
  int64_t depth = 16;  // terms of a tile

  int64_t terms() const { return lhs.summed.size; }
};
// The tile of a side of `size` elements: as many, up to four a thread.
int64_t DotTileOf(int64_t size);
// Chooses how threads load a side, once its tile is known.
void PlanTileLoads(TileSide& side, int64_t depth);

// Emits the work of one thread of a block.
class DotTile {
 public:
  // `thread`: of the block. `emitter` gives the operands' elements; it and the plan outlive this.
  // With `rows` the left operand is not read.
  DotTile(const DotTilePlan& plan, Builder& b, ElementEmitter& emitter, llvm::Value* thread,
          llvm::Value* batch, SharedRows rows = {});

  // The thread's sums of the tile that begins there, lhs.per_thread() rows of rhs.per_thread(). All
  // threads must come here.
  Values Sums(llvm::Value* first_row, llvm::Value* first_column);
  // The same from `sums` on, as TensorTile has it.
  Values AddSums(llvm::Value* first_row, llvm::Value* first_column, llvm::Value* term,
                 llvm::Value* steps, const Values& sums);
  Values NoSums() const;
  int64_t Steps() const { return (plan_.terms() + plan_.depth - 1) / plan_.depth; }
  void MoveTo(llvm::Value* first_row, llvm::Value* first_column) {
    lhs_.first = first_row;
    rhs_.first = first_column;
  }
  Values ChangeRows(const Values& sums,
                    absl::FunctionRef<llvm::Value*(llvm::Value* row, llvm::Value* sum)> change);
  // Where they begin.
  llvm::Value* FirstRow() {
    return b_.CreateNSWAdd(lhs_.first, Scale(b_, Rows(), plan_.lhs.per_thread()));
  }
  llvm::Value* FirstColumn() {
    return b_.CreateNSWAdd(rhs_.first, Scale(b_, Columns(), plan_.rhs.per_thread()));
  }

 private:
  struct Tile {
    const TileSide* side = nullptr;
    llvm::Value* first = nullptr;  // of the tile, along the free dimensions
    llvm::GlobalVariable* shared = nullptr;
  };
  // Where in a tile a load of a thread lies: from (free, term) on.
  struct Place {
    llvm::Value* free;
    llvm::Value* term;
  };

  static int64_t RowOf(const TileSide& side);
  llvm::Value* Rows();
  llvm::Value* Columns();

  // The thread's load number `k` of a tile.
  Place PlaceOf(const TileSide& side, int64_t k);

  int64_t Loads(const TileSide& side) const;

  // `at`, or the last place from which `vector` elements lie before `size`.
  llvm::Value* Inside(llvm::Value* at, int64_t size, int64_t vector, int64_t step);

  // The thread's elements of the tile whose terms begin at `term`.
  Values Load(const Tile& tile, llvm::Value* term);

  Values LoadVector(const TileSide& side, llvm::Value* free, llvm::Value* term);

  llvm::Value* SharedPlace(const Tile& tile, llvm::Value* term, llvm::Value* free);

  void Share(const Tile& tile, const Values& loaded);

  // The neighbours from `first` on of a term's row in shared memory.
  Values ReadShared(const Tile& tile, int64_t term, llvm::Value* first);

  llvm::Value* MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* sum);

  // Of the left side's rows in shared memory.
  Values ReadRows(llvm::Value* term, llvm::Value* first);

  // Of the step whose terms begin at `first_term`.
  Values AddTerms(Values sums, llvm::Value* first_term);

  const DotTilePlan& plan_;
  Builder& b_;
  ElementEmitter& emitter_;
  ThreadGroup group_;
  llvm::Value* const batch_;
  const SharedRows rows_;
  llvm::Value* zero_ = nullptr;
  Tile lhs_, rhs_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
