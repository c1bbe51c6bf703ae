// tree-reduction-rewriter: long reductions in two stages, as XLA's GPU compiler has them.
// One kernel reduces a row of up to 16,384 elements, or a column of up to 4,096, without sums that
// several blocks of threads add to in an order of chance. A longer one becomes a matrix:
//   reduce f32[50048] over {0}  ->  bitcast to f32[128,391], reduce over {1}, reduce over {0}
// Rows are last dimensions; another reduced dimension before them stays in the first stage where
// it is at most 8 long, else the rows are reduced alone first. The matrix is about square: as many
// rows as the greatest power of two below the root if that divides the size, else as many as leave
// the least to pad, which is padded with the initial value. Where the size is even and its greater
// factor odd and less than twice the other, which is even, rows have the smaller one: they are read
// two elements at a time.
// Reassociates floats. The initial value must be the identity, for it is used in both stages.
// Cost: linear; the factors of a size n are sought in sqrt(n) steps.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/unmoved.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxRowOfBlock = 16384, kMaxColumnOfBlock = 4096, kMaxBatchOfRows = 8;

// rows * columns is at least the size that is split; the rest is padding.
struct MatrixShape {
  int64_t rows, columns;
};

int64_t RoundedUpQuotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

MatrixShape NearlySquare(int64_t size) {
  int64_t root = 1, power = 1;
  while ((root + 1) * (root + 1) <= size) ++root;
  while (power * 2 <= root) power *= 2;
  if (size % power == 0) return {power, size / power};
  MatrixShape best = {root, RoundedUpQuotient(size, root)};
  for (int64_t rows = root - 1; rows >= (root + 1) / 2; --rows) {
    const int64_t columns = RoundedUpQuotient(size, rows);
    if (rows * columns < best.rows * best.columns) best = {rows, columns};
  }
  return best;
}

// Whether threads that read two elements of a row at once want the smaller factor as the row.
bool ReadsPairsWhenSwapped(int64_t size, MatrixShape matrix) {
  return size % 2 == 0 && matrix.rows % 2 == 0 && matrix.columns % 2 == 1 &&
         matrix.columns < 2 * matrix.rows;
}

// `x`, which is reduced along `d`, with that dimension as a matrix.
Instruction* AsMatrix(Instruction* x, Instruction* init, int64_t d, MatrixShape matrix,
                      HloWriter& w) {
  const int64_t missing = matrix.rows * matrix.columns - x->shape().dims[d];
  if (missing > 0) {
    PaddingConfig padding(x->shape().rank());
    padding[d].high = missing;
    x = w.Pad(x, init, std::move(padding));
  }
  DimVector dims = x->shape().dims;
  dims[d] = matrix.rows;
  dims.insert(dims.begin() + d + 1, matrix.columns);
  return BitcastTo(w.rewriter(), x, dims);
}

struct Reduction {
  Instruction* init;
  Computation* reducer;
};

bool IsRow(const Shape& shape, const DimVector& along) { return along.back() == shape.rank() - 1; }

bool HasLongBatch(const Shape& shape, const DimVector& along) {
  return along.size() == 2 && shape.dims[along[0]] > kMaxBatchOfRows;
}

bool IsLong(const Shape& shape, const DimVector& along) {
  if (along.size() == 2 && !IsRow(shape, along)) return false;
  return HasLongBatch(shape, along) ||
         shape.dims[along.back()] > (IsRow(shape, along) ? kMaxRowOfBlock : kMaxColumnOfBlock);
}

// The reduction of `x` along the sorted `along` in as many stages as it takes.
Instruction* InStages(Instruction* x, DimVector along, const Reduction& reduction, HloWriter& w) {
  const auto reduce = [&](Instruction* of, const DimVector& dims) {
    return w.Reduce(of, reduction.init, dims, reduction.reducer);
  };
  if (!IsLong(x->shape(), along)) return reduce(x, along);
  const int64_t d = along.back(), size = x->shape().dims[d];
  if (HasLongBatch(x->shape(), along))
    return InStages(InStages(x, {d}, reduction, w), {along[0]}, reduction, w);
  MatrixShape matrix = NearlySquare(size);
  if (IsRow(x->shape(), along) && ReadsPairsWhenSwapped(size, matrix))
    std::swap(matrix.rows, matrix.columns);
  along.back() = d + 1;
  Instruction* rows = reduce(AsMatrix(x, reduction.init, d, matrix, w), along);
  return InStages(rows, {d - static_cast<int64_t>(along.size()) + 1}, reduction, w);
}

absl::StatusOr<Instruction*> SplitLongReduction(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduce || i->operand_count() != 2) return nullptr;
  const Shape& shape = i->operand(0)->shape();
  const auto opcode = ReducerOpcode(*i->to_apply());
  DimVector along = i->attr<DimensionsAttrs>().dimensions;
  std::sort(along.begin(), along.end());
  if (shape.HasDynamicDims() || !shape.IsRowMajor() || shape.ElementCount() == 0 || !opcode ||
      !IsIdentity(i->operand(1), *opcode) || along.empty() || along.size() > 2 ||
      !IsLong(shape, along))
    return nullptr;
  HloWriter w(r);
  Instruction* made = InStages(i->operand(0), along, {i->operand(1), i->to_apply()}, w);
  made->set_shape(i->shape());
  return made;
}

}  // namespace

std::unique_ptr<Pass> CreateGpuTreeReductionRewriter() {
  return MakeExpander("tree-reduction-rewriter", SplitLongReduction);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
