// A tile of a product on tensor cores, computed by the threads of one block: what kernels of dots
// and of attention share. tensor_dot_kernels.cc tells how.
#pragma once

#include "backends/cuda/dot_sides.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/shared_rows_internal.h"
#include "backends/cuda/thread_group.h"

namespace hlokit {

inline constexpr int64_t kTensorLineBytes = 64;  // of a tile along k
inline constexpr int64_t kTensorStepBytes = 32;  // of one matrix instruction along k
inline constexpr int64_t kTensorSpareBytes = 16;
inline constexpr int64_t kMinTensorTile = 32, kMaxTensorTile = 128;
inline constexpr int64_t kBlockWarps = kBlockThreads / kWarp;

struct TensorSide : DotSide {
  ElementType unit = ElementType::kBF16;  // in shared memory
  int64_t tile = kMinTensorTile;          // elements along `free`
  bool along_free = false;                // memory's lines, else along `summed`
  int64_t vector = 1;                     // neighbours that one load brings
  int64_t piece = 1;                      // neighbours that a thread stores at once

  int64_t width() const { return ByteWidth(unit); }
  int64_t depth() const { return kTensorLineBytes / width(); }
  // Whether lines in shared memory are along `free`.
  bool stored_along_free() const { return along_free && width() == 2; }
  int64_t line_bytes() const {
    return (stored_along_free() ? tile * width() : kTensorLineBytes) + kTensorSpareBytes;
  }
  int64_t bytes() const { return (stored_along_free() ? depth() : tile) * line_bytes(); }
  int64_t pieces() const { return tile * depth() / (kBlockThreads * piece); }  // of a thread
  // Memory's bytes may go to shared memory as they are.
  bool IsPlain() const { return operand->shape().type == unit && (width() == 2 || !along_free); }
};

struct TensorTilePlan {
  TensorSide lhs, rhs;
  ElementType sum_type = ElementType::kF32;
  int64_t warps_of_rows = 2;  // of the block's eight, the others being along columns

  int64_t depth() const { return lhs.depth(); }
  int64_t terms() const { return lhs.summed.size; }
  int64_t warp_rows() const { return lhs.tile / warps_of_rows; }  // of elements
  int64_t warp_columns() const { return rhs.tile * warps_of_rows / kBlockWarps; }

  // Chooses what is in shared memory and summed, for a product of `result`s. False where tensor
  // cores have no such product.
  bool ChooseTypes(ElementType result);
};
// Chooses how threads load a side, once its tile is known.
void PlanTensorLoads(TensorSide& side);

// Emits the work of one thread of a block.
class TensorTile {
 public:
  // Two neighbours along columns: of `column`, which is even, and the next.
  struct Pair {
    llvm::Value* column;
    llvm::Value* const* sums;
  };

  // `thread`: of the block. The plan outlives this. With `rows`, `lhs` is not read.
  TensorTile(const TensorTilePlan& plan, Builder& b, llvm::Value* thread, llvm::Value* batch,
             const ArrayRef& lhs, const ArrayRef& rhs, SharedRows rows = {});

  // The thread's sums of the tile that begins there, for Visit. All threads must come here, and
  // have left what they read of the shared tiles before.
  Values Sums(llvm::Value* first_row, llvm::Value* first_column);
  // `sums` and those of `steps` steps of the plan's depth from term `term` on, where lines of
  // `rows` begin; NoSums() before the first.
  Values AddSums(llvm::Value* first_row, llvm::Value* first_column, llvm::Value* term,
                 llvm::Value* steps, const Values& sums);
  Values NoSums();
  int64_t Steps() const { return (plan_.terms() + plan_.depth() - 1) / plan_.depth(); }
  // Where the sums that are visited begin, where that is not where the last ones were made.
  void MoveTo(llvm::Value* first_row, llvm::Value* first_column) {
    lhs_.first = first_row;
    rhs_.first = first_column;
  }
  // Each sum of `sums` changed by what `change` makes of its row and of it.
  Values ChangeRows(const Values& sums,
                    absl::FunctionRef<llvm::Value*(llvm::Value* row, llvm::Value* sum)> change);
  // Calls `visit` with each of the thread's rows of that tile and its pairs in it.
  void Visit(const Values& sums,
             absl::FunctionRef<void(llvm::Value* row, absl::Span<const Pair> pairs)> visit);

 private:
  struct Tile {
    const TensorSide* side = nullptr;
    llvm::Value* first = nullptr;  // of the tile, along `free`
    ArrayRef array;
    llvm::GlobalVariable* shared = nullptr;
  };
  // What a thread loads: elements in the form that memory has, by piece.
  using Pieces = std::vector<Values>;
  // Where a piece lies in its tile.
  struct Place {
    llvm::Value* free;
    llvm::Value* term;
  };

  Place PlaceOf(const TensorSide& side, int64_t k);

  // `at`, or the last place from which `count` elements lie before `size`; tiles of `tile`.
  llvm::Value* Inside(llvm::Value* at, int64_t size, int64_t count, int64_t tile);

  // The thread's pieces of the tile whose terms begin at `term`.
  Pieces Load(const Tile& tile, llvm::Value* term);

  Values LoadVector(const Tile& tile, llvm::Value* free, llvm::Value* term);

  // Neighbours as words of 32 bits.
  Values LoadWords(const Tile& tile, const std::vector<llvm::Value*>& multi);

  Values LoadElements(const Tile& tile, std::vector<llvm::Value*> multi);

  llvm::Value* SharedPlace(const Tile& tile, llvm::Value* byte);

  // The first byte of half `half` of a tile's shared memory.
  llvm::Value* HalfOf(const Tile& tile, llvm::Value* half);

  void Share(const Tile& tile, const Pieces& pieces, llvm::Value* half);

  // Elements of one piece, next to each other.
  void SharePiece(const Tile& tile, const Values& elements, llvm::Value* byte);

  // Elements of one piece, a line each.
  void ShareTurned(const Tile& tile, const Values& elements, llvm::Value* byte);

  // Bit `bit` of the lane's number, times 8.
  llvm::Value* EightIf(int bit);

  // The words of 8 x 8 matrices (of 16 bits; x 16 of bytes) from element (free, byte `term` of k)
  // on: `count` of them, whose number's bits 0 and 1 step by 8 along free or along k.
  Values LoadFragments(const Tile& tile, llvm::Value* half, llvm::Value* free, int64_t term,
                       int64_t count, bool free_first);

  // Fragments of 16 rows of the left side.
  Values LoadLeft(llvm::Value* half, llvm::Value* row, llvm::Value* first_term, int64_t term);

  Values LoadMatrices(llvm::Value* at, int64_t count, bool turned);

  // Of the step whose tiles are in half `half`, and begin at element `first_term` of k.
  Values AddTerms(Values sums, llvm::Value* half, llvm::Value* first_term);

  llvm::Intrinsic::ID Instruction() const;

  void Multiply(const Values& x, const Values& y, llvm::Value** sums);

  const TensorTilePlan& plan_;
  Builder& b_;
  ThreadGroup group_;
  llvm::Value* const batch_;
  const SharedRows rows_;
  llvm::Value* lane_ = nullptr;                               // of the warp
  llvm::Value *warp_row_ = nullptr, *warp_column_ = nullptr;  // of its part of the tile
  Tile lhs_, rhs_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
