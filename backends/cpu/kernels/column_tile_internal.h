// A tile of accumulators for reductions that keep the fastest dimension. Vector kernels
// (row_tiles.cc) and kernels whose vectors LLVM finds (column_reduce.cc) share it: they differ in
// how many columns a step has, and in which fusions they take.
#pragma once

#include <vector>

#include "backends/cpu/kernels/strategies_internal.h"
#include "codegen/accumulators.h"
#include "codegen/element_emitter.h"

namespace hlokit {

// What a tile goes over.
struct ColumnTilePlan {
  Shape from;                // the array that is reduced
  DimVector reduced;         // its reduced dimensions, slowest first
  int64_t column = 0;        // its dimension whose index is the column
  int64_t columns = 0;       // of one row of results
  int64_t width = 0;         // columns of a tile
  int64_t lanes = 1;         // columns of a step: a vector of so many, or a single element
  int64_t rows_at_once = 1;  // rows that are added while a step's accumulators are in registers

  int64_t count() const { return (columns + width - 1) / width; }
  int64_t rows() const;  // of all reduced dimensions
  // Whether the last step of a row of results reaches beyond its end.
  bool cuts_off() const { return columns % lanes != 0; }
};

// ColumnTilePlan::rows_at_once of a kernel whose element takes so many instructions: long bodies
// are not worth being written several times.
int64_t RowsAtOnce(size_t body);

class ColumnTile {
 public:
  // Both must outlive the tile. The accumulators lie on the function's stack, one array each.
  ColumnTile(const ColumnTilePlan& plan, ElementEmitter& emitter)
      : plan_(plan), emitter_(emitter), b_(emitter.builder()) {}

  // Has sums of so many rows that their rounding would be seen made in blocks, whose totals are
  // summed. Before Begin; `reductions` must outlive the tile.
  void SumInBlocks(const std::vector<Accumulators>& reductions);
  // Starts the tile at column `first`: every accumulator gets its initial value, a scalar.
  void Begin(llvm::Value* first, const Values& initial);
  // Loops over the steps: sets index[dimension] to the step's first column and calls `body` with
  // that column's place in the tile.
  void ForEachStep(std::vector<llvm::Value*>& index, int64_t dimension,
                   absl::FunctionRef<void(llvm::Value*)> body);
  // Adds all rows to the accumulators, in order but for SumInBlocks. `index`: of an element of
  // `from`, of which this sets the reduced dimensions and the column. `enter` is called at the
  // start of each step with its place in the tile; `add` gives the step's accumulators after the
  // row at `index` from those before it.
  using Enter = absl::FunctionRef<void(llvm::Value* at)>;
  using Add = absl::FunctionRef<Values(const Values& before)>;
  void AddRows(std::vector<llvm::Value*>& index, Enter enter, Add add) {
    AddRows(0, index, enter, add);
    if (sums_ != nullptr) EndBlock(index, /*last=*/true);
  }
  // The accumulators of the step at that place.
  Values Load(llvm::Value* at);

 private:
  using Arrays = std::vector<llvm::Value*>;  // by accumulator
  void Allocate(const Values& initial);
  Arrays AllocateArrays(const Values& initial);
  void Store(const Arrays& arrays, llvm::Value* at, const Values& values);
  Values Load(const Arrays& arrays, llvm::Value* at);
  llvm::Value* Splat(llvm::Value* value);
  void AddLastRows(llvm::Value* begin, int64_t count, std::vector<llvm::Value*>& index, Enter enter,
                   Add add);
  void EndBlock(std::vector<llvm::Value*>& index, bool last);
  llvm::Type* StepOf(llvm::Type* element) const;
  void AddRows(size_t level, std::vector<llvm::Value*>& index, Enter enter, Add add);
  void AddBlock(llvm::Value* row, int64_t rows, std::vector<llvm::Value*>& index, Enter enter,
                Add add);

  const ColumnTilePlan& plan_;
  ElementEmitter& emitter_;
  Builder& b_;
  Arrays arrays_;
  Arrays totals_;                   // of the blocks before, where sums_ is not null
  std::vector<llvm::Type*> types_;  // of their elements as values
  const std::vector<Accumulators>* sums_ = nullptr;
  llvm::Value* first_ = nullptr;  // column of the tile
  llvm::Value* steps_ = nullptr;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
