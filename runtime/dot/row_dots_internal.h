// The inner loops of products of few rows with columns of B that lie along k, compiled once per
// instruction set: the including file defines HLOKIT_ISA (a namespace), HLOKIT_VECTOR_BYTES and
// HLOKIT_ACCUMULATORS. No standard C++ headers here, as in gemm_kernels_internal.h.
#pragma once

#include "runtime/dot/gemm_internal.h"
#include "runtime/lanes_internal.h"
#include "runtime/vectors_internal.h"

namespace hlokit::HLOKIT_ISA {

HLOKIT_INLINE float Widened(const float* x) { return *x; }
HLOKIT_INLINE double Widened(const double* x) { return *x; }
template <typename Narrow>
HLOKIT_INLINE float Widened(const Narrow* x) {
  return ToFloat(*x);
}

// a * b + c, rounded once where the instruction set can: a compiler's own choice may differ from
// one type of B to another.
template <typename T>
HLOKIT_INLINE T MultiplyAdd(T a, T b, T c) {
#if HLOKIT_VECTOR_BYTES >= 32
  if constexpr (__is_same(T, float)) return __builtin_fmaf(a, b, c);
  if constexpr (__is_same(T, double)) return __builtin_fma(a, b, c);
#endif
  return a * b + c;
}

// to[i] += the sum of the lanes of sums[i], lane by lane. A tile of them at a time is transposed:
// its rows are then added as they are.
template <typename T, int kCount>
HLOKIT_INLINE void AddLaneSums(const typename VectorOf<T>::Type* sums, T* to) {
  constexpr int kLanes = VectorOf<T>::kLanes;
#pragma GCC unroll 16
  for (int first = 0; first < kCount; first += kLanes) {
    typename Lanes<T, kLanes>::Type rows[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      rows[i] = first + i < kCount ? sums[first + i] : typename VectorOf<T>::Type{};
    }
    TransposeRows<T, kLanes>(rows);
#pragma GCC unroll 16
    for (int i = 1; i < kLanes; ++i) rows[0] += rows[i];
    for (int i = 0; i < kLanes && first + i < kCount; ++i) to[first + i] += rows[0][i];
  }
}

constexpr int64_t kShortColumn = 256;

// kRows rows with the kCols columns from `col` on.
template <typename T, typename B, int kRows, int kCols>
// A vector of partial sums per (column, row) pair; the lanes of all of them are added at the end,
// by a transpose in registers. Positions that fill no vector are added one by one into `total`.
static void RowDots(const RowDotTask<T>& task, int64_t col) {
  using Vector = typename VectorOf<T>::Type;
  constexpr int kLanes = VectorOf<T>::kLanes;
  Vector sum[kCols][kRows] = {};
  T total[kCols][kRows] = {};
  const T* a = task.a;
  for (int64_t i = 0; i < task.run_count; ++i, a += task.run) {
    const B* columns[kCols];
    for (int j = 0; j < kCols; ++j)
      columns[j] = static_cast<const B*>(task.b) + task.columns[col + j] + task.runs[i];
    int64_t p = 0;
    for (; p + kLanes <= task.run; p += kLanes) {
      Vector row[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) row[r] = Load(a + r * task.lda + p);
#pragma GCC unroll 16
      for (int j = 0; j < kCols; ++j) {
        const Vector column = Load(columns[j] + p);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) sum[j][r] += row[r] * column;
      }
    }
    for (; p < task.run; ++p) {
      for (int j = 0; j < kCols; ++j) {
        const T column = Widened(columns[j] + p);
        for (int r = 0; r < kRows; ++r)
          total[j][r] = MultiplyAdd(a[r * task.lda + p], column, total[j][r]);
      }
    }
  }
  AddLaneSums<T, kCols * kRows>(sum[0], total[0]);
  for (int j = 0; j < kCols; ++j) {
    for (int r = 0; r < kRows; ++r) task.c[r * task.ldc + col + j] = total[j][r];
  }
}

template <typename T, typename B, int kRows>
static void ManyRowDots(const RowDotTask<T>& task) {
  constexpr int kFit = HLOKIT_ACCUMULATORS / kRows;
  constexpr int kCols = kFit >= kGemmDotCols ? kGemmDotCols : kFit >= 4 ? 4 : 2;
  int64_t col = 0;
  // Short columns cost more to add up at their ends than to multiply: a whole tile of sums then.
  constexpr int kSquare = VectorOf<T>::kLanes;
  if constexpr (kRows == 1 && kSquare > kCols && kSquare <= HLOKIT_ACCUMULATORS) {
    if (task.run_count * task.run <= kShortColumn)
      for (; col + kSquare <= task.cols; col += kSquare) RowDots<T, B, 1, kSquare>(task, col);
  }
  for (; col + kCols <= task.cols; col += kCols) RowDots<T, B, kRows, kCols>(task, col);
  for (; col < task.cols; ++col) RowDots<T, B, kRows, 1>(task, col);
}

template <typename T, typename B, int kRows = kGemmDotRows>
constexpr void FillRowDots(RowDotKernel<T>* row) {
  row[kRows] = &ManyRowDots<T, B, kRows>;
  if constexpr (kRows > 1) FillRowDots<T, B, kRows - 1>(row);
}

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
