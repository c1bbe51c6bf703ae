// Cholesky factorization and triangular solves by OpenBLAS, for dense matrices of kLeastSize rows
// and more.
//
// The library stores matrices by columns. A row-major matrix is its transpose in that order, so no
// copy is needed: a lower triangle is passed as an upper one, and A X = B as X^T A^T = B^T.
// Right-hand sides are solved in groups of kColumnsTogether, so that bits do not depend on the
// threads.
#include "runtime/linalg/linalg_internal.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "runtime/linalg/lapack_internal.h"
#include "runtime/movement/memory.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

constexpr int64_t kLeastSize = 24;        // rows of a matrix that repay the call
constexpr int64_t kColumnsTogether = 64;  // right-hand sides of one call; of fixed number, so that
                                          // results do not depend on the number of threads

// A matrix that the library can take: by columns, or by rows as the transpose.
bool IsDense(const HlokitMatrixLayout& layout, int64_t rows, int64_t cols) {
  return (layout.row_stride == 1 && layout.col_stride == rows) ||
         (layout.col_stride == 1 && layout.row_stride == cols);
}

bool ByColumns(const HlokitMatrixLayout& layout) { return layout.row_stride == 1; }

bool SameLayout(const HlokitMatrixLayout& a, const HlokitMatrixLayout& b) {
  return a.row_stride == b.row_stride && a.col_stride == b.col_stride;
}

bool IsLarge(int64_t size) { return size >= kLeastSize && size <= INT32_MAX; }

template <typename T>
void CopyMatrix(void* ctx, int64_t rows, int64_t cols, const T* from,
                const HlokitMatrixLayout& from_layout, T* to, const HlokitMatrixLayout& to_layout) {
  if (from == to) return;
  HlokitCopyDesc copy = {sizeof(T), 2, {}};
  copy.dims[0] = {rows, from_layout.row_stride, to_layout.row_stride};
  copy.dims[1] = {cols, from_layout.col_stride, to_layout.col_stride};
  hlokit_copy_strided(ctx, &copy, from, to);
}

// --- Cholesky ---

template <typename T>
using Potrf = void(const char*, const int*, T*, const int*, int*);

// The library lets NaN pass; we report the minor it makes.
template <typename T>
int FirstNan(const T* matrix, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(std::real(matrix[i * n + i]))) return static_cast<int>(i + 1);
  }
  return 0;
}

// As XLA's cholesky leaves a matrix: NaN throughout, or without the other triangle.
template <typename T>
void Finish(T* matrix, int64_t n, bool upper_in_memory, bool failed) {
  if (failed) std::fill(matrix, matrix + n * n, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
  for (int64_t column = 0; column < n && !failed; ++column) {
    T* from = matrix + column * n;
    if (upper_in_memory) {
      std::fill(from + column + 1, from + n, T(0));
    } else {
      std::fill(from, from + column, T(0));
    }
  }
}

template <typename T>
void Cholesky(void* ctx, const HlokitCholeskyDesc& d, const void* from, void* to, int32_t* info,
              Potrf<T>* potrf) {
  // By rows, the lower triangle is the upper one of the transpose, whose factor is the transpose
  // again.
  const bool upper = (d.lower == 0) == ByColumns(d.to);
  const char triangle = upper ? 'U' : 'L';
  const int n = static_cast<int>(d.n);
  const int64_t size = d.n * d.n;
  ParallelFor(ctx, d.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* matrix = static_cast<T*>(to) + i * size;
      CopyMatrix(ctx, n, n, static_cast<const T*>(from) + i * size, d.from, matrix, d.to);
      int failed = 0;
      potrf(&triangle, &n, matrix, &n, &failed);
      if (failed == 0) failed = FirstNan(matrix, n);
      if (info != nullptr) {
        info[i] = failed;
      } else {
        Finish(matrix, n, upper, failed != 0);
      }
    }
  });
}

// --- triangular systems ---

template <typename T>
using Trsm = void(const char*, const char*, const char*, const char*, const int*, const int*,
                  const T*, const T*, const int*, T*, const int*);

struct SolveCall {
  char side, triangle, trans, diagonal;
};

// What to ask the library for; false where it has no such call: a conjugate that is not transposed.
bool Translate(const HlokitTriangularSolveDesc& d, bool complex, SolveCall& call) {
  const bool transposed_a = !ByColumns(d.a), transposed_x = !ByColumns(d.x);
  call.side = (d.left_side != 0) != transposed_x ? 'L' : 'R';
  call.triangle = (d.lower != 0) != transposed_a ? 'L' : 'U';
  call.diagonal = d.unit_diagonal ? 'U' : 'N';
  const bool transposed = d.transpose != HLOKIT_NO_TRANSPOSE;
  const bool conjugated = complex && d.transpose == HLOKIT_ADJOINT;
  const bool seen_transposed = transposed != (transposed_a != transposed_x);
  call.trans = !seen_transposed ? 'N' : conjugated ? 'C' : 'T';
  return seen_transposed || !conjugated;
}

template <typename T>
void Solve(void* ctx, const HlokitTriangularSolveDesc& d, const void* a, const void* b, void* x,
           const SolveCall& call, Trsm<T>* trsm) {
  const int order = static_cast<int>(d.left_side ? d.m : d.n);
  const int rows = static_cast<int>(ByColumns(d.x) ? d.m : d.n);
  const int64_t systems = d.left_side ? d.n : d.m;
  const int64_t chunks = (systems + kColumnsTogether - 1) / kColumnsTogether;
  const int64_t size = d.m * d.n;
  // Systems lie `pitch` elements apart.
  const int64_t pitch = d.left_side ? d.x.col_stride : d.x.row_stride;
  const int64_t from_pitch = d.left_side ? d.b.col_stride : d.b.row_stride;
  ParallelFor(ctx, d.batch * chunks, 1, [&](int64_t begin, int64_t end) {
    const T one(1);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i = task / chunks, first = task % chunks * kColumnsTogether;
      const int count = static_cast<int>(std::min(kColumnsTogether, systems - first));
      T* to = static_cast<T*>(x) + i * size + first * pitch;
      const T* from = static_cast<const T*>(b) + i * size + first * from_pitch;
      CopyMatrix(ctx, d.left_side ? d.m : count, d.left_side ? count : d.n, from, d.b, to, d.x);
      const int m = call.side == 'L' ? order : count, n = call.side == 'L' ? count : order;
      trsm(&call.side, &call.triangle, &call.trans, &call.diagonal, &m, &n, &one,
           static_cast<const T*>(a) + i * int64_t{order} * order, &order, to, &rows);
    }
  });
}

}  // namespace

template <typename T>
bool CholeskyByLibrary(void* ctx, const HlokitCholeskyDesc& d, const void* from, void* to,
                       int32_t* info) {
  if (!IsLarge(d.n) || !IsDense(d.from, d.n, d.n) || !IsDense(d.to, d.n, d.n)) return false;
  if (from == to && !SameLayout(d.from, d.to)) return false;
  static auto* const potrf = reinterpret_cast<Potrf<T>*>(FindLapackFunction<T>("potrf"));
  if (potrf == nullptr) return false;
  Cholesky<T>(ctx, d, from, to, info, potrf);
  return true;
}

template <typename T>
bool SolveByLibrary(void* ctx, const HlokitTriangularSolveDesc& d, const void* a, const void* b,
                    void* x) {
  const int64_t order = d.left_side ? d.m : d.n;
  if (!IsLarge(order) || std::max(d.m, d.n) > INT32_MAX || d.m == 0 || d.n == 0) return false;
  if (!IsDense(d.a, order, order) || !IsDense(d.x, d.m, d.n)) return false;
  if (b == x && !SameLayout(d.b, d.x)) return false;
  static auto* const trsm = reinterpret_cast<Trsm<T>*>(FindLapackFunction<T>("trsm"));
  SolveCall call;
  if (trsm == nullptr || !Translate(d, kIsComplex<T>, call)) return false;
  Solve<T>(ctx, d, a, b, x, call, trsm);
  return true;
}

#define HLOKIT_FOR_TYPE(T)                                                                 \
  template bool CholeskyByLibrary<T>(void*, const HlokitCholeskyDesc&, const void*, void*, \
                                     int32_t*);                                            \
  template bool SolveByLibrary<T>(void*, const HlokitTriangularSolveDesc&, const void*,    \
                                  const void*, void*);
HLOKIT_FOR_TYPE(float)
HLOKIT_FOR_TYPE(double)
HLOKIT_FOR_TYPE(std::complex<float>)
HLOKIT_FOR_TYPE(std::complex<double>)
#undef HLOKIT_FOR_TYPE

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
