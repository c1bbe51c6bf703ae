// Row computations as one kernel: what it does, planned before any code is written, and the code.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/row_form.h"
#include "analysis/row_lanes.h"
#include "backends/cpu/kernels/column_tile_internal.h"
#include "codegen/accumulators.h"
#include "codegen/expression.h"
#include "codegen/math/quotient.h"

namespace hlokit {

struct RowPlan {
  TargetInfo target;
  Expression e;
  RowForm form;
  std::vector<const Instruction*> body;
  std::vector<size_t> full_roots, row_roots;
  absl::flat_hash_set<const Instruction*> dependent;  // on a reduction
  // Values of whole rows that a pass leaves for later ones.
  struct Kept {
    const Instruction* instruction;
    int pass;      // that computes it first
    bool rounded;  // to its type: only operations that round it take it
  };
  std::vector<Kept> kept;
  // Elements of a vector where the code is written in vectors; 0 where LLVM has to find them in
  // loops over single elements, which takes it far longer.
  int64_t lanes = 0;
  // Rows of bf16 are read as words of two: a vector of the even elements, then one of the odd ones.
  // Nothing is then moved between lanes.
  bool pairs = false;
  // Where lanes > 0: what vectors cover. Those of columns hold one element each of several of them,
  // and row values are vectors too.
  RowLanes covered;
  bool columns = false;
  ColumnTilePlan tiles;  // of columns; wider than lanes where they are only reduced

  // Elements that one step along the row computes.
  int64_t step() const { return lanes * (pairs ? 2 : 1); }
  bool cuts_off() const { return columns && tiles.cuts_off(); }
  bool only_reduces() const { return columns && tiles.width > lanes; }
  // A unit of work is a row, or a tile of columns.
  int64_t units() const { return columns ? form.rows / tiles.columns * tiles.count() : form.rows; }
};

// Nothing if the expression is no row computation, or does as well with plain kernels.
std::optional<RowPlan> PlanRows(const KernelRequest& request);

// What the last pass and the reductions of each pass read, down to reductions.
absl::flat_hash_set<const Instruction*> NeededIn(const RowPlan& plan, int pass);

class RowEmitter {
 public:
  RowEmitter(const RowPlan& plan, Builder& b, KernelArrays& arrays);
  void EmitUnit(llvm::Value* unit);

 private:
  void EmitRow(llvm::Value* unit);
  void FindPlace(llvm::Value* unit);
  void AllocateScratch();
  ScalarValue KeptValue(size_t k, const ElementIndex& index);
  void EmitRowValues(int pass);
  bool Spreads(const Instruction* i) const;
  bool DividesByRowValue(const Instruction* i) const;
  void BindQuotients();
  void BindExponentials();
  void EmitPass(int pass);
  Values EmitElements(int pass, const std::vector<Accumulators>& reductions);
  void Finish(int pass, const std::vector<Accumulators>& reductions, const Values& results);
  void StoreRoots(const ElementIndex& index);
  void StoreRowRoots();
  Values EmitLoops(size_t level, llvm::Value* at, const Values& carried,
                   const std::vector<Accumulators>& reductions,
                   absl::FunctionRef<Values(llvm::Value*, const Values&)> body);
  Values EmitBlocks(const std::vector<Accumulators>& reductions, int64_t count, bool inside,
                    const Values& carried,
                    absl::FunctionRef<Values(llvm::Value*, const Values&)> body);

  // ---- row_lanes.cc: in vectors ----
  void BindLanes();
  void BindColumnValues();
  void BindMasks();
  bool VariesInLanes(const Instruction& broadcast) const;
  llvm::Value* Spread(const Instruction* broadcast);
  void EmitSplats(int pass);
  Values EmitLanes(int pass, const std::vector<Accumulators>& reductions);
  Values EmitNest(size_t level, llvm::Value* position, const Values& carried,
                  const std::vector<Accumulators>& reductions,
                  absl::FunctionRef<Values(llvm::Value*, const Values&)> body);
  Values EmitPieces(int pass, const std::vector<Accumulators>& reductions, llvm::Value* position,
                    const Values& carried, int64_t unrolled);
  int64_t Unrolled(int pass) const;
  void EmitStep(int pass, const std::vector<Accumulators>& reductions, const Values& carried,
                size_t& used, Values& next);
  Values Collect(const std::vector<Accumulators>& reductions, const Values& parts, size_t count);
  void StoreLanes(int pass, const ElementIndex& index, std::vector<llvm::Value*>& low);
  ScalarValue LoadLanes(const ArrayRef& array, llvm::Value* place);
  llvm::Value* AddressesOfRows(const ArrayRef& array);
  ScalarValue LoadOfRows(const ArrayRef& array);
  void StoreOfRows(const ArrayRef& array, llvm::Value* value);
  ScalarValue LoadAlternate(const ArrayRef& array, llvm::Value* place);
  void StoreVector(const ArrayRef& array, llvm::Value* place, llvm::Value* value);
  llvm::Value* Splat(llvm::Value* value);
  llvm::Value* LanesBefore(llvm::Value* count);

  // ---- row_tiles.cc: columns that are only reduced ----
  void EmitTile(llvm::Value* unit);
  void PlaceStep(llvm::Value* at);
  void Prefetch();

  const RowPlan& plan_;
  const RowForm& form_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  std::vector<ArrayRef> scratch_;                              // of plan_.kept
  absl::flat_hash_map<const Instruction*, Divisor> divisors_;  // by the division
  // Of the unit that is being written: where its row starts (if it lies together), its number among
  // the rows (that of its first column), its index, and which lanes there are where some are not.
  llvm::Value* row_start_ = nullptr;
  llvm::Value* row_ = nullptr;
  std::vector<llvm::Value*> multi_;
  llvm::Value* mask_ = nullptr;
  // Vectors of what is the same along a row, by broadcast.
  absl::flat_hash_map<const Instruction*, llvm::Value*> splats_;
  // While a step is written: its place in the row and in the array, and which elements of pairs.
  llvm::Value* at_ = nullptr;
  llvm::Value* place_ = nullptr;
  int odd_ = 0;
  ColumnTile tile_;
  absl::flat_hash_map<std::pair<llvm::Value*, llvm::Value*>, llvm::Value*> words_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
