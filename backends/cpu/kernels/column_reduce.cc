// Reductions that keep the fastest dimension, of any layout, type and reducer: what row kernels do
// not take (row_plan.cc). Accumulators of a tile of kTile columns are combined element by element
// (column_tile.cc), and LLVM makes vectors of the loop over columns.
//   s32[1000,512] -> s32[512]:  a unit is 256 columns of one row of results
// Where the fastest dimension is short and a kept one follows, the columns are that one's, and each
// has the sums of the short dimension side by side, so that rows are still read from left to right:
//   f32[2048,2048,3] -> f32[2048,3]:  a unit is 256 columns of three sums each
// Several reductions of one array share the pass over it, and elementwise work on their results
// follows tile by tile, while the accumulators are in the cache. Cost: the array is read once.
#include <algorithm>

#include "analysis/in_place.h"
#include "backends/cpu/kernels/column_tile_internal.h"
#include "codegen/accumulators.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

// Columns of a tile; narrower rows of results are left to other strategies. Sums of a column.
constexpr int64_t kTile = 256, kMinColumns = 8, kMaxSums = 8;

const Shape& FirstPart(const Instruction* i) {
  return i->shape().IsTuple() ? i->shape().elements[0] : i->shape();
}

bool IsLeaf(const Expression& e, const Instruction* i) {
  return std::any_of(e.leaves.begin(), e.leaves.end(),
                     [i](const auto& leaf) { return leaf.instruction == i; });
}

// The reductions under the roots, if all have one form and everything above them is pointwise in
// their result's shape; empty if not.
std::vector<const Instruction*> Heroes(const Expression& e) {
  std::vector<const Instruction*> heroes;
  std::vector<const Instruction*> work(e.roots.begin(), e.roots.end());
  std::vector<const Instruction*> seen;
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (std::find(seen.begin(), seen.end(), i) != seen.end()) continue;
    seen.push_back(i);
    if (seen.size() > 64) return {};
    if (i->opcode() == Opcode::kReduce && !IsLeaf(e, i)) {
      heroes.push_back(i);
      continue;
    }
    if (IsLeaf(e, i) || (i->IsConstant() && i->shape().IsScalar())) continue;
    if (i->opcode() == Opcode::kGetTupleElement) {
      work.push_back(i->operand(0));
      continue;
    }
    if (i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().IsScalar() &&
        i->operand(0)->IsConstant())
      continue;
    if (!HasTrait(i->opcode(), kElementwise)) return {};
    for (const Instruction* operand : i->operands()) work.push_back(operand);
  }
  if (heroes.empty()) return {};
  const Instruction* first = heroes[0];
  for (const Instruction* h : heroes) {
    if (h->attr<DimensionsAttrs>().dimensions != first->attr<DimensionsAttrs>().dimensions)
      return {};
    if (h->operand(0)->shape().dims != first->operand(0)->shape().dims ||
        h->operand(0)->shape().MinorToMajor() != first->operand(0)->shape().MinorToMajor())
      return {};
  }
  return heroes;
}

struct ColumnForm {
  std::vector<const Instruction*> heroes;
  Shape result;  // shape of all roots
  ColumnTilePlan tiles;
  int64_t column_of_result = 0;  // the dimension of `result` that tiles.column is
  // The short dimension within a column, of tiles.from and of `result`; -1: each has one sum.
  int64_t inner = -1, inner_of_result = -1;

  int64_t sums() const { return inner < 0 ? 1 : tiles.from.dims[inner]; }
};

// The reduced dimensions, and the column: the fastest dimension of more than one element, if it is
// kept, or the one behind it if that one is short.
bool FindColumn(const DimVector& reduced, ColumnForm& form) {
  ColumnTilePlan& tiles = form.tiles;
  tiles.column = -1;
  for (int64_t d : tiles.from.MinorToMajor()) {
    const int64_t size = tiles.from.dims[d];
    if (Contains(reduced, d)) {
      if (tiles.column < 0 && size > 1) return false;
      tiles.reduced.insert(tiles.reduced.begin(), d);
    } else if (tiles.column < 0 && size > 1) {
      const bool is_short = size < kMinColumns && size <= kMaxSums && form.inner < 0;
      (is_short ? form.inner : tiles.column) = d;
    }
  }
  return tiles.column >= 0 && tiles.from.dims[tiles.column] >= kMinColumns;
}

// The dimension of the result that a kept one of the array is.
int64_t KeptDimension(const DimVector& reduced, int64_t dimension) {
  return dimension - std::count_if(reduced.begin(), reduced.end(),
                                   [dimension](int64_t d) { return d < dimension; });
}

bool FindForm(const Expression& e, ColumnForm& form) {
  form.heroes = Heroes(e);
  if (form.heroes.empty()) return false;
  const Instruction* hero = form.heroes[0];
  form.tiles.from = hero->operand(0)->shape();
  form.result = e.shapes[0];
  for (const Shape& s : e.shapes)
    if (s.dims != FirstPart(hero).dims || s.MinorToMajor() != form.result.MinorToMajor())
      return false;
  const DimVector& reduced = hero->attr<DimensionsAttrs>().dimensions;
  // A reduction of no dimensions gives its operands, whatever the initial value.
  if (reduced.empty() || !FindColumn(reduced, form)) return false;
  form.column_of_result = KeptDimension(reduced, form.tiles.column);
  if (form.inner >= 0) form.inner_of_result = KeptDimension(reduced, form.inner);
  form.tiles.columns = form.result.dims[form.column_of_result];
  form.tiles.width = kTile;
  form.tiles.rows_at_once = RowsAtOnce(Body(e).size());
  for (int64_t d : form.result.MinorToMajor()) {
    if (form.result.dims[d] == 1 || d == form.inner_of_result) continue;
    return d == form.column_of_result && form.tiles.from.ElementCount() > 0;
  }
  return false;
}

class ColumnReduce {
 public:
  ColumnReduce(const Expression& e, const ColumnForm& form, Builder& b, KernelArrays& arrays)
      : e_(e), form_(form), arrays_(arrays), emitter_(b), tile_(form.tiles, emitter_) {
    emitter_.set_excess(true);
    BindLeaves(emitter_, e_, arrays_);
  }

  // One tile of one row of results.
  void EmitUnit(std::vector<llvm::Value*> result_index, llvm::Value* tile) {
    Builder& b = emitter_.builder();
    std::vector<Accumulators> reductions;  // those of the first sum, of the second, ...
    Values initial;
    for (int64_t sum = 0; sum < form_.sums(); ++sum)
      for (const Instruction* hero : form_.heroes) {
        reductions.emplace_back(*hero, emitter_).KeepOrder();
        reductions.back().AppendInitial(initial);
      }
    tile_.SumInBlocks(reductions);
    tile_.Begin(Scale(b, tile, form_.tiles.width), initial);
    std::vector<llvm::Value*> index = IndexInArray(result_index);
    tile_.AddRows(
        index, [](llvm::Value*) {},
        [&](const Values& before) {
          Values after;
          size_t used = 0, next = 0;
          for (int64_t sum = 0; sum < form_.sums(); ++sum) {
            if (form_.inner >= 0) index[form_.inner] = b.Index(sum);
            for (size_t h = 0; h < form_.heroes.size(); ++h)
              reductions[next++].AppendNext(ElementIndex::Multi(index), before, used, after);
          }
          return after;
        });
    tile_.ForEachStep(result_index, form_.column_of_result, [&](llvm::Value* at) {
      const Values values = tile_.Load(at);
      size_t used = 0, next = 0;
      for (int64_t sum = 0; sum < form_.sums(); ++sum) {
        if (form_.inner >= 0) result_index[form_.inner_of_result] = b.Index(sum);
        for (size_t h = 0; h < form_.heroes.size(); ++h) {
          const Accumulators& r = reductions[next++];
          const std::vector<ScalarValue> parts = r.Results(values, used);
          emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
        }
        StoreRoots(ElementIndex::Multi(result_index));
      }
    });
  }

 private:
  // The kept dimensions of the reduced array; the tile sets the others.
  std::vector<llvm::Value*> IndexInArray(const std::vector<llvm::Value*>& result_index) const {
    std::vector<llvm::Value*> index(form_.tiles.from.rank());
    for (int64_t d = 0, kept = 0; d < form_.tiles.from.rank(); ++d)
      if (!Contains(form_.tiles.reduced, d)) index[d] = result_index[kept++];
    return index;
  }

  void StoreRoots(const ElementIndex& index) {
    std::vector<ScalarValue> values;  // all reads before any write
    for (size_t r = 0; r < e_.roots.size(); ++r)
      values.push_back(emitter_.EmitRounded(e_.roots[r], index, e_.root_leaves[r]));
    for (size_t r = 0; r < e_.roots.size(); ++r)
      StoreTo(emitter_.builder(), arrays_.result(static_cast<int64_t>(r)), index, values[r]);
  }

  const Expression& e_;
  const ColumnForm& form_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  ColumnTile tile_;
};

}  // namespace

bool AddColumnReduceKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  ColumnForm form;
  if (!FindForm(e, form)) return false;
  Shape rows = form.result;  // all dimensions but the column's, as units
  rows.dims[form.column_of_result] = 1;
  if (form.inner >= 0) rows.dims[form.inner_of_result] = 1;
  const int64_t tiles = form.tiles.count();
  Kernel kernel;
  kernel.units = rows.ElementCount() * tiles;
  kernel.unit_cost =
      ElementCost(e) * static_cast<double>(form.sums() * std::min(form.tiles.columns, kTile));
  kernel.emit = [e, form, rows, tiles](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                       llvm::Value* end) {
    ColumnReduce reduce(e, form, b, arrays);
    EmitLoop(b, begin, end, [&](llvm::Value* unit) {
      llvm::Value* row = tiles == 1 ? unit : b.CreateUDiv(unit, b.getInt64(tiles));
      llvm::Value* tile = tiles == 1 ? b.getInt64(0) : b.CreateURem(unit, b.getInt64(tiles));
      reduce.EmitUnit(WithMulti(b, ElementIndex::Linear(row), rows).multi, tile);
    });
  };
  if (kernel.units > 0) out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
