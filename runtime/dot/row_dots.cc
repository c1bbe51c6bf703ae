// Products of few rows (up to 64) with columns that are contiguous along the summed dimension, such
// as f32[1,k] times a transposed weight matrix. Packing B would cost more than the product: B is
// read once, in place, kGemmDotCols columns at a time, while the few rows of A stay in the cache.
// Bound by memory bandwidth for one row.
#include <algorithm>
#include <vector>

#include "runtime/context.h"
#include "runtime/dot/gemm_internal.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxRows = 64;            // beyond, and
constexpr int64_t kDepthForRow = 16;        // below so much depth a row, packing B is repaid
constexpr int64_t kRowsAmongMany = 7;       // that are worked on together, so that B is not read
                                            // for a few of them
constexpr int64_t kColumnBytes = 24 << 10;  // of columns that all rows meet while they are cached
constexpr int64_t kMaxColumns = 64;         // that one call takes
constexpr int64_t kTaskWork = 1 << 19;      // multiply-adds that are worth a task

constexpr int64_t kAtStart = 0;  // where the only run of a column begins

template <typename T>
constexpr bool TakesType(int32_t type) {
  if (sizeof(T) == 8) return type == HLOKIT_F64;
  return T(0.5) != T(0) ? type == HLOKIT_F32 : type == HLOKIT_S8 || type == HLOKIT_U8;
}

template <typename T>
const RowDotKernel<T>* KernelsFor(const GemmKernels<T>& kernels, int32_t type) {
  const bool is_byte = TakesType<T>(HLOKIT_F32) && ByteTypeOf(type) >= 0;
  const RowDotKernel<T>* by_rows = type == HLOKIT_BF16  ? kernels.row_dots_bf16
                                   : TakesType<T>(type) ? kernels.row_dots
                                   : is_byte            ? kernels.row_dots_bytes[ByteTypeOf(type)]
                                                        : nullptr;
  return by_rows != nullptr && by_rows[1] != nullptr ? by_rows : nullptr;
}

// Elements of a column that lie side by side.
int64_t RunOf(const IndexMap& k) {
  if (k.table != nullptr) return k.run;
  return k.stride == 1 ? k.size : 1;
}

// Elements of a column that lie side by side must fill vectors; units of several are read in one
// run only.
bool FillsVectors(const IndexMap& k, bool short_ones, int64_t lanes, int64_t unit) {
  const int64_t run = RunOf(k);
  if (unit > 1) return run == k.size && run >= lanes * unit;
  return k.size >= (short_ones ? 1 : 4) * lanes &&
         (run % lanes == 0 || run == k.size || run >= 8 * lanes);
}

template <typename T>
class FewRows {
 public:
  FewRows(const GemmKernels<T>& kernels, const RowDotKernel<T>* by_rows, const GemmSource& a,
          const GemmSource& b, const GemmTarget& c)
      : kernels_(kernels),
        by_rows_(by_rows),
        a_(a),
        b_(b),
        c_(c),
        rows_(c.rows.size),
        depth_(a.k.size),
        pitch_(kernels.depth_unit == 1
                   ? depth_
                   : CeilDiv(depth_, kernels.depth_unit * kernels.lanes) * kernels.lanes),
        run_(RunOf(b.k)) {
    for (int64_t k = 0; run_ < depth_ && k < depth_; k += run_) runs_.push_back(OffsetAt(b_.k, k));
    const int64_t groups = rows_ > kGemmDotRows ? CeilDiv(rows_, kRowsAmongMany) : 1;
    height_ = CeilDiv(rows_, groups);
    const int64_t column = pitch_ * int64_t{sizeof(T)};
    chunk_ = groups == 1 ? kMaxColumns
                         : std::clamp<int64_t>(kColumnBytes / column / kGemmDotCols * kGemmDotCols,
                                               kGemmDotCols, kMaxColumns);
  }

  void Run(void* ctx) const {
    Scratch scratch(rows_ * pitch_ * sizeof(T));
    if (scratch.data() == nullptr) {
      return hlokit_set_error(ctx, "out of memory in a matrix product");
    }
    T* a = scratch.as<T>();
    kernels_.pack_a(a_.type)(a_, 0, rows_, 0, depth_, pitch_, a);
    const int64_t grain = CeilDiv(CeilDiv(kTaskWork, rows_ * pitch_), kGemmDotCols) * kGemmDotCols;
    ParallelFor(ctx, c_.cols.size, grain, [&](int64_t begin, int64_t end) {
      for (int64_t col = begin; col < end; col += chunk_)
        FillColumns(a, col, std::min(chunk_, end - col));
    });
  }

 private:
  void FillColumns(const T* a, int64_t col, int64_t count) const {
    int64_t columns[kMaxColumns];
    for (int64_t j = 0; j < count; ++j) columns[j] = OffsetAt(b_.outer, col + j);
    T tile[kGemmDotRows * kMaxColumns];
    for (int64_t row = 0; row < rows_; row += height_) {
      const int64_t rows = std::min(height_, rows_ - row);
      by_rows_[rows]({a + row * pitch_, pitch_, b_.data, columns, count,
                      runs_.empty() ? &kAtStart : runs_.data(), depth_ / run_, run_, tile,
                      kMaxColumns});
      kernels_.store(c_.type)(tile, kMaxColumns, rows, count, c_, row, col);
    }
  }

  const GemmKernels<T>& kernels_;
  const RowDotKernel<T>* by_rows_;
  const GemmSource &a_, &b_;
  const GemmTarget& c_;
  int64_t rows_, depth_;
  int64_t pitch_;              // of packed A
  int64_t run_;                // elements of a column that lie side by side
  std::vector<int64_t> runs_;  // where they begin; empty, without memory of its own, for one
  int64_t height_;             // rows that are worked on together
  int64_t chunk_;              // columns that all rows meet, one group after the other
};

template <typename T>
bool Run(void* ctx, const GemmKernels<T>& kernels, const GemmSource& a, const GemmSource& b,
         const GemmTarget& c) {
  const int64_t depth = a.k.size;
  const int64_t most = MaxDotRows(depth);
  const RowDotKernel<T>* by_rows = KernelsFor(kernels, b.type);
  // A vector meets short columns as they come, unless they overlap as those of convolutions.
  const bool short_ones = c.rows.size == 1 && b.outer.table == nullptr && b.outer.stride >= depth;
  if (by_rows == nullptr || c.rows.size > most ||
      !FillsVectors(b.k, short_ones, kernels.lanes, kernels.depth_unit) || a.negate_from < depth ||
      b.negate_from < depth) {
    return false;
  }
  FewRows<T>(kernels, by_rows, a, b, c).Run(ctx);
  return true;
}

}  // namespace

int64_t MaxDotRows(int64_t depth) {
  return std::clamp(depth / kDepthForRow, int64_t{kGemmDotRows}, kMaxRows);
}

bool RunRowDots(void* ctx, const GemmKernels<float>& kernels, const GemmSource& a,
                const GemmSource& b, const GemmTarget& c) {
  return Run(ctx, kernels, a, b, c);
}

bool RunRowDots(void* ctx, const GemmKernels<uint32_t>& kernels, const GemmSource& a,
                const GemmSource& b, const GemmTarget& c) {
  return Run(ctx, kernels, a, b, c);
}

bool RunRowDots(void* ctx, const GemmKernels<double>& kernels, const GemmSource& a,
                const GemmSource& b, const GemmTarget& c) {
  return Run(ctx, kernels, a, b, c);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
