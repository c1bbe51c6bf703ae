// Cholesky factors and triangular systems: by OpenBLAS where it is installed and matrices repay the
// call, else in code of our own.
#pragma once

#include <stdint.h>

#include "runtime/element.h"

#ifdef __cplusplus
extern "C" {
#endif

// Distances, in elements, between rows and between columns of each matrix of a batch; matrices
// follow each other densely.
typedef struct HlokitMatrixLayout {
  int64_t row_stride, col_stride;
} HlokitMatrixLayout;

typedef struct HlokitCholeskyDesc {
  int64_t type;      // f32, f64, c64, c128
  int64_t batch, n;  // matrices, and their rows and columns
  int64_t lower;     // 1: a = l l^H, reading a's lower triangle; 0: a = u^H u, the upper one
  HlokitMatrixLayout from, to;
} HlokitCholeskyDesc;

// Without `info`, as XLA's cholesky: the other triangle is zero, and a matrix that is not positive
// definite gives NaN throughout. With `info` (batch numbers), as LAPACK's potrf: the other triangle
// keeps its input, and info is 0 or the 1-based order of the first minor that is not positive.
// `from` may be `to` if the layouts agree.
void hlokit_cholesky(void* ctx, const HlokitCholeskyDesc* desc, const void* from, void* to,
                     int32_t* info);

enum HlokitTranspose { HLOKIT_NO_TRANSPOSE = 0, HLOKIT_TRANSPOSE = 1, HLOKIT_ADJOINT = 2 };

typedef struct HlokitTriangularSolveDesc {
  int64_t type;  // f32, f64, c64, c128
  int64_t batch, m,
      n;  // b and the solution are m by n; a is m by m, or n by n if it stands on the right
  int64_t left_side;      // 1: op(a) x = b; 0: x op(a) = b
  int64_t lower;          // which triangle of a is read
  int64_t unit_diagonal;  // 1: a's diagonal counts as ones and is not read
  int64_t transpose;      // HlokitTranspose: op
  HlokitMatrixLayout a, b, x;
} HlokitTriangularSolveDesc;

// XLA's triangular-solve and LAPACK's trsm (alpha 1). A zero on the diagonal gives infinities or
// NaN. b may be x if the layouts agree. Errors (both kernels): another element type, memory short.
void hlokit_triangular_solve(void* ctx, const HlokitTriangularSolveDesc* desc, const void* a,
                             const void* b, void* x);

typedef struct HlokitPivotsDesc {
  int64_t batch, pivots, rows;  // pivots of each matrix, and how many rows they permute
} HlokitPivotsDesc;

// Row i was exchanged with row pivots[i], 0-based and in turn: which row ends where. A pivot out
// of range is passed over.
void hlokit_pivots_to_permutation(void* ctx, const HlokitPivotsDesc* desc, const int32_t* pivots,
                                  int32_t* permutation);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
