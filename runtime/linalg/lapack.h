// LAPACK over batches, with the operands and results of jaxlib's lapack_*_ffi custom calls.
#pragma once

#include <stdint.h>

#include "runtime/element.h"

#ifdef __cplusplus
extern "C" {
#endif

// Results in brackets; a is m by n unless it says n by n. `info` is s32, 0 or LAPACK's code.
// Letters are the ASCII codes that stand in backend_config, e.g. {uplo = 76 : ui8} for 'L'.
enum HlokitLapackFunction {
  HLOKIT_LAPACK_GETRF = 0,  // a -> [lu, pivots s32[min(m,n)] 1-based, info]
  HLOKIT_LAPACK_GEQRF,      // a -> [qr, tau]
  HLOKIT_LAPACK_GEQP3,      // a, jpvt s32[n] -> [qr, jpvt, tau]
  HLOKIT_LAPACK_ORGQR,      // qr, tau[k] -> [q]                          also ungqr
  HLOKIT_LAPACK_ORMQR,      // qr (m by k if left, n by k if not), tau[k], c (m by n) -> [c]   left,
                            // transpose; also unmqr
  HLOKIT_LAPACK_GESDD,      // a -> [a, s, u, vt, info]                   mode 'N', 'S', 'A'
  HLOKIT_LAPACK_GESVD,      // a -> [a, s, u, vt, info]                   mode 'N', 'S', 'A'
  HLOKIT_LAPACK_SYEVD,      // a (n by n) -> [vectors, w, info]           mode 'V', 'N', uplo; also
                            // heevd
  HLOKIT_LAPACK_SYTRD,      // a (n by n) -> [a, d, e, tau, info]         uplo; also hetrd
  HLOKIT_LAPACK_GEEV,       // a (n by n) -> [wr, wi, vl, vr, info], complex a: [w, vl, vr, info]
                            // left_mode, mode
  HLOKIT_LAPACK_GEES,   // a (n by n) -> [t, vs, wr, wi, sdim, info], complex a: [t, vs, w, sdim,
                        // info]   mode
  HLOKIT_LAPACK_GEHRD,  // a (n by n) -> [a, tau, info]               low, high
  HLOKIT_LAPACK_GTSV,  // dl, d, du (n each, dl[0] and du[n-1] unused), b (m = n rows, k columns) ->
                       // [dl, d, du, b, info]
  HLOKIT_LAPACK_POTRF,  // a (n by n) -> [l or u, info]               uplo
  HLOKIT_LAPACK_TRSM,   // a, b (m by n) -> [x]                       side, uplo, trans, diag
  HLOKIT_LAPACK_FUNCTIONS,
};

typedef struct HlokitLapackDesc {
  int64_t function;  // HlokitLapackFunction
  int64_t type;      // f32, f64, c64, c128: of the matrices
  int64_t batch;
  int64_t m, n, k;          // as named above
  int64_t mode;             // gesdd, gesvd, syevd, gees; geev: compute_right
  int64_t left_mode;        // geev: compute_left
  int64_t uplo;             // 'L' or 'U'
  int64_t side;             // trsm: 'L' or 'R'
  int64_t trans;            // trsm: 'N', 'T' or 'C' (trans_x)
  int64_t diag;             // trsm: 'N' or 'U'
  int64_t left, transpose;  // ormqr: 0 or 1
  int64_t low, high;        // gehrd: 1-based
} HlokitLapackDesc;

// Runs one function on each matrix of the batch, one thread a matrix. Matrices are column-major,
// batch dimensions outermost and dense. Results that alias an operand may share its buffer;
// otherwise operands are left alone. Matrices with NaN or infinity give info -4 and NaN in geev and
// gesdd, as in jaxlib. Errors: another element type or function; OpenBLAS or LAPACK cannot be
// loaded (it is, at the first call that needs it).
void hlokit_lapack(void* ctx, const HlokitLapackDesc* desc, const void* const* operands,
                   void* const* results);

#ifdef __cplusplus
}  // extern "C"

namespace hlokit {

// Function and type of a custom call target such as "lapack_cheevd_ffi" (heevd is SYEVD with type
// c64); false if it names none of the above.
bool FindLapackTarget(const char* target, int64_t* function, int64_t* type);

}  // namespace hlokit
#endif
// SPDX-License-Identifier: Apache-2.0
