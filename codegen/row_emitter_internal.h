// Row computations as one kernel: what it does, planned before any code is written, and the code.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/row_form.h"
#include "codegen/expression.h"
#include "codegen/kernels_internal.h"
#include "codegen/math/quotient.h"
#include "codegen/reducer_internal.h"

namespace hlokit {

struct RowPlan {
  Expression e;
  RowForm form;
  std::vector<const Instruction*> body;
  std::vector<size_t> full_roots, row_roots;
  absl::flat_hash_set<const Instruction*> dependent;  // on a reduction
  // Values of whole rows that a pass leaves for later ones.
  struct Kept {
    const Instruction* instruction;
    int pass;  // that computes it first
  };
  std::vector<Kept> kept;
  // Elements of a vector where the code is written in vectors; 0 where LLVM has to find them in
  // loops over single elements, which takes it far longer.
  int64_t lanes = 0;
  // Rows of bf16 are read as words of two: a vector of the even elements, then one of the odd ones.
  // Nothing is then moved between lanes.
  bool pairs = false;

  // Elements that one step along the row computes.
  int64_t step() const { return lanes * (pairs ? 2 : 1); }
  // True for an array with as many elements as the rows have, in their order.
  bool IsFull(const Shape& shape) const;
  bool IsFullBroadcast(const Instruction& i) const;
  // True for a broadcast to all rows of what varies along them.
  bool IsAlongRow(const Instruction& i) const;
};

// Nothing if the expression is no row computation, or does as well with plain kernels.
std::optional<RowPlan> PlanRows(const Expression& expression);

// What the last pass and the reductions of each pass read, down to reductions.
absl::flat_hash_set<const Instruction*> NeededIn(const RowPlan& plan, int pass);

// True for functions of many steps.
bool IsCostly(const Instruction& i);

// True if all of the plan's work on elements of rows can be written in vectors; sets lanes and
// pairs then.
bool PlanLanes(RowPlan& plan);

class RowEmitter {
 public:
  RowEmitter(const RowPlan& plan, Builder& b, KernelArrays& arrays);
  void EmitRow(llvm::Value* row);

 private:
  std::vector<llvm::Value*> RowIndex(llvm::Value* row);
  void MakeRooms();
  void EmitRowValues(int pass);
  bool Spreads(const Instruction* i) const;
  bool DividesByRowValue(const Instruction* i) const;
  void BindQuotients();
  void BindExponentials();
  void EmitPass(int pass);
  Values EmitElements(int pass, const std::vector<RunningReduction>& running);
  void Finish(int pass, const std::vector<RunningReduction>& running, const Values& results);
  void StoreRoots(const ElementIndex& index);
  Values EmitLoops(size_t level, llvm::Value* at, const Values& carried,
                   absl::FunctionRef<Values(llvm::Value*, const Values&)> body);

  // ---- row_lanes.cc: in vectors ----
  void BindLanes();
  void EmitSplats(int pass);
  Values EmitLanes(int pass, const std::vector<RunningReduction>& running);
  int64_t Unrolled(int pass) const;
  void EmitStep(int pass, const std::vector<RunningReduction>& running, const Values& carried,
                size_t& used, Values& next);
  Values Collect(const std::vector<RunningReduction>& running, const Values& parts, size_t count);
  void StoreLanes(int pass, const ElementIndex& index, std::vector<llvm::Value*>& low);
  ScalarValue LoadLanes(const ArrayRef& array, llvm::Value* place);
  ScalarValue LoadAlternate(const ArrayRef& array, llvm::Value* place);
  llvm::Value* Splat(llvm::Value* scalar);

  const RowPlan& plan_;
  const RowForm& form_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  std::vector<ArrayRef> rooms_;                                // of plan_.kept
  absl::flat_hash_map<const Instruction*, Divisor> divisors_;  // by the division
  llvm::Value* row_start_ = nullptr;                           // of the row that is being written
  std::vector<llvm::Value*> multi_;
  // Vectors of what is the same along a row, by broadcast.
  absl::flat_hash_map<const Instruction*, llvm::Value*> splats_;
  // While a step is written: its place in the row and in the array, and which elements of pairs.
  llvm::Value* at_ = nullptr;
  llvm::Value* place_ = nullptr;
  int odd_ = 0;
  absl::flat_hash_map<std::pair<llvm::Value*, llvm::Value*>, llvm::Value*> words_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
