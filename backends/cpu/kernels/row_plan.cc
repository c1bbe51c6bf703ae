// Plans a row kernel: which values are stored between passes, how many lanes, how wide the tiles of
// columns, whether bf16 elements are processed in pairs.
//
// A value is stored if two passes need it and recomputing it costs more than a load: costly
// functions, or rounding to bf16. Stored values of a row are limited to
// TargetInfo::row_bytes (the first-level cache), of a tile of columns to column_bytes (the
// second-level cache).
#include <algorithm>

#include "backends/cpu/kernels/row_emitter_internal.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/scalar_program.h"

namespace hlokit {
namespace {

// Elements of one vector register in f32; machines with narrower ones take two or four.
int64_t MinLanes(const RowPlan& plan) { return plan.target.fusion.lanes.lanes; }

// Functions of many steps wait for themselves: in kernels that run long two vectors go beside each
// other.
bool WantsWideLanes(const RowPlan& plan) {
  const double work =
      static_cast<double>(plan.form.full.ElementCount()) * static_cast<double>(plan.body.size());
  const bool costly = std::any_of(plan.body.begin(), plan.body.end(), [&](const Instruction* i) {
    return IsCostly(*i) && plan.form.IsFull(i->shape());
  });
  return costly && work >= kLongWork && plan.covered.count % (4 * MinLanes(plan)) == 0;
}

// Rounding to bf16 is more work than reading what was rounded.
bool IsRoundedWork(const RowPlan& plan, const Instruction& i) {
  if (plan.lanes == 0 || plan.columns || i.shape().type != ElementType::kBF16) return false;
  const bool arithmetic = i.opcode() == Opcode::kAdd || i.opcode() == Opcode::kSubtract ||
                          i.opcode() == Opcode::kMultiply;
  return arithmetic &&
         std::none_of(i.users().begin(), i.users().end(),
                      [](const Instruction* user) { return user->opcode() == Opcode::kConvert; });
}

using NeededInPasses = std::vector<absl::flat_hash_set<const Instruction*>>;

// The pass that reads an array first, if others do too; else -1.
int FirstOfReads(const RowPlan& plan, const NeededInPasses& needed, const Instruction& array) {
  int first = -1, reads = 0;
  for (int pass = 0; pass < plan.form.passes; ++pass) {
    const bool read =
        std::any_of(array.users().begin(), array.users().end(), [&](const Instruction* user) {
          if (user->opcode() != Opcode::kReduce) return needed[pass].contains(user);
          return std::any_of(
              plan.form.reductions.begin(), plan.form.reductions.end(),
              [&](const RowForm::Reduction& r) { return r.reduce == user && r.pass == pass; });
        });
    if (read && reads++ == 0) first = pass;
  }
  return reads < 2 ? -1 : first;
}

// Elements of rows that lie apart are gathered once, where several passes read them.
int64_t KeepGathered(RowPlan& plan, const NeededInPasses& needed) {
  int64_t bytes = 0;
  for (const Expression::Leaf& leaf : plan.e.leaves) {
    const Shape& shape = leaf.instruction->shape();
    if (!plan.form.IsFull(shape)) continue;
    const int first = FirstOfReads(plan, needed, *leaf.instruction);
    const int64_t size = plan.form.length * plan.lanes * ByteWidth(shape.type);
    if (first < 0 || bytes + size > plan.target.column_bytes) continue;
    bytes += size;
    plan.kept.push_back({leaf.instruction, first, false});
  }
  return bytes;
}

void PlanKept(RowPlan& plan) {
  NeededInPasses needed;
  for (int pass = 0; pass < plan.form.passes; ++pass) needed.push_back(NeededIn(plan, pass));
  int64_t bytes = plan.covered.across_rows ? KeepGathered(plan, needed) : 0;
  for (const Instruction* i : plan.body) {
    const bool rounded = i->shape().IsArray() && IsRoundedWork(plan, *i);
    if (!(rounded || IsCostly(*i)) || i->shape().dims != plan.form.full.dims ||
        !i->shape().IsRowMajor())
      continue;
    int first = -1, uses = 0;
    for (int pass = 0; pass < plan.form.passes; ++pass) {
      if (!needed[pass].contains(i)) continue;
      if (uses++ == 0) first = pass;
    }
    int64_t size = plan.form.length * ByteWidth(i->shape().type);
    if (plan.columns) size *= plan.lanes;
    const int64_t most = plan.columns ? plan.target.column_bytes : plan.target.row_bytes;
    if (uses < 2 || bytes + size > most) continue;
    bytes += size;
    plan.kept.push_back({i, first, rounded});
  }
}

bool SortRoots(RowPlan& plan) {
  for (size_t r = 0; r < plan.e.roots.size(); ++r) {
    const Shape& shape = plan.e.shapes[r];
    if (!shape.IsRowMajor()) return false;
    if (shape.dims == plan.form.full.dims) {
      plan.full_roots.push_back(r);
    } else if (plan.form.IsRowShaped(shape)) {
      plan.row_roots.push_back(r);
    } else {
      return false;
    }
  }
  return true;
}

bool GoesInPairs(const RowPlan& plan) {
  if (plan.columns || plan.covered.count % (2 * plan.lanes) != 0) return false;
  for (const RowPlan::Kept& kept : plan.kept)
    if (!kept.rounded) return false;
  for (size_t r : plan.full_roots)
    if (plan.e.shapes[r].type != ElementType::kBF16) return false;
  bool reads = false;
  for (const Expression::Leaf& leaf : plan.e.leaves) {
    if (!plan.form.IsFull(leaf.instruction->shape())) continue;
    if (leaf.instruction->shape().type != ElementType::kBF16) return false;
    reads = true;
  }
  return reads;
}

// Four contiguous vectors of columns per step: whole lines from each place of memory, and steps
// that do not wait for each other. Fewer where that leaves few units for threads, or much cut off.
int64_t ColumnLanes(const RowPlan& plan) {
  constexpr int64_t kFewUnits = 8;
  const int64_t columns = plan.covered.count;
  const double work =
      static_cast<double>(plan.form.full.ElementCount()) * static_cast<double>(plan.body.size());
  const int64_t min_lanes = MinLanes(plan);
  if (work < kLongWork) return min_lanes;
  int64_t lanes = (plan.form.full.type == ElementType::kF64 ? 2 : 4) * min_lanes;
  while (lanes > min_lanes) {
    const int64_t cut_off = (lanes - columns % lanes) % lanes;
    if (plan.form.rows / lanes >= kFewUnits && cut_off * 8 <= columns) break;
    lanes /= 2;
  }
  return lanes;
}

// Fewer columns are reduced in registers.
constexpr int64_t kNarrowestTile = 128;

// Columns of a tile that is only reduced: some 2 KB of memory from each row, less where that leaves
// few units for threads.
int64_t ReducedColumns(const RowPlan& plan) {
  constexpr int64_t kFewUnits = 4, kPieceBytes = 2048;
  int64_t columns = kPieceBytes / ByteWidth(plan.form.full.type);
  while (columns > kNarrowestTile && plan.form.rows / columns < kFewUnits) columns /= 2;
  return columns;
}

// Sets what concerns vectors, if all work on elements of rows can be written in them.
bool PlanLanes(RowPlan& plan) {
  const std::optional<RowLanes> covered =
      FindRowLanes(plan.form, plan.body, plan.target.fusion.lanes);
  if (!covered.has_value()) return false;
  plan.covered = *covered;
  plan.columns = plan.form.IsColumns() || covered->across_rows;
  if (plan.columns) {
    const bool only_reduces = plan.form.IsColumns() && plan.form.passes == 2 &&
                              plan.full_roots.empty() && plan.covered.count >= kNarrowestTile;
    plan.lanes = only_reduces               ? 2 * MinLanes(plan)
                 : plan.covered.across_rows ? MinLanes(plan)
                                            : ColumnLanes(plan);
    plan.tiles.from = plan.form.full;
    plan.tiles.reduced = plan.covered.outer;
    plan.tiles.column = plan.covered.dims.back();
    plan.tiles.columns = plan.covered.count;
    plan.tiles.width = only_reduces ? ReducedColumns(plan) : plan.lanes;
    plan.tiles.lanes = plan.lanes;
    plan.tiles.rows_at_once = RowsAtOnce(plan.body.size());
    return true;
  }
  plan.lanes = (WantsWideLanes(plan) ? 2 : 1) * MinLanes(plan);
  return true;
}

}  // namespace

absl::flat_hash_set<const Instruction*> NeededIn(const RowPlan& plan, int pass) {
  std::vector<const Instruction*> work;
  for (const RowForm::Reduction& r : plan.form.reductions)
    if (r.pass == pass)
      work.insert(work.end(), r.reduce->operands().begin(), r.reduce->operands().end());
  if (pass + 1 == plan.form.passes)
    for (size_t r : plan.full_roots) work.push_back(plan.e.roots[r]);
  absl::flat_hash_set<const Instruction*> needed;
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (i->IsParameter() || i->opcode() == Opcode::kReduce || !needed.insert(i).second) continue;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return needed;
}

std::optional<RowPlan> PlanRows(const KernelRequest& request) {
  const Expression& expression = request.expression;
  RowPlan plan;
  plan.target = request.target;
  plan.e = expression;
  plan.body = Body(expression);
  const std::optional<RowForm> form = FindRowForm(plan.body);
  if (!form.has_value()) return std::nullopt;
  plan.form = *form;
  if (!SortRoots(plan)) return std::nullopt;
  for (const Instruction* i : plan.body) {
    bool depends = i->opcode() == Opcode::kReduce;
    for (const Instruction* operand : i->operands()) depends |= plan.dependent.contains(operand);
    if (depends) plan.dependent.insert(i);
  }
  // Without work after a reduction on its own row the plain kernels do as well.
  const bool feeds_back = plan.form.passes > 2 || !plan.full_roots.empty();
  const bool in_lanes = PlanLanes(plan);
  if (plan.form.IsColumns() && !in_lanes) return std::nullopt;
  if (!in_lanes && !plan.form.IsContiguous()) return std::nullopt;
  if (!in_lanes && !feeds_back && plan.form.reductions.size() == 1) return std::nullopt;
  PlanKept(plan);
  plan.pairs = in_lanes && GoesInPairs(plan);
  return plan;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
