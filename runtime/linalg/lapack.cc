// LAPACK's functions behind XLA's custom calls lapack_{s,d,c,z}NAME_ffi: factorizations here,
// eigenvalues and singular values in lapack_eigen.cc.
//
// The library is loaded at the first call (dlopen), so programs start without it and machines
// without it get an error that names the function; SciPy's wheels bring one too, with other names.
// Each wrapper copies the operands that LAPACK
// overwrites, asks for the size of the workspace (lwork = -1), and runs the matrices of a batch in
// parallel, each on one thread. Arrays are column-major, as XLA states them in
// operand_layout_constraints.
#include "runtime/linalg/lapack.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/linalg/lapack_internal.h"
#include "runtime/linalg/linalg.h"

namespace hlokit {
namespace {

// A library, and what the names of its functions begin with: nothing, or `scipy_` in SciPy's.
struct LapackLibrary {
  void* handle = nullptr;
  const char* prefix = "";

  void* Find(const char* name) const {
    char whole[80];
    snprintf(whole, sizeof(whole), "%s%s", prefix, name);
    return handle == nullptr ? nullptr : dlsym(handle, whole);
  }
};

// The one that the user names, else the system's, else the one that a host program knows of (the
// JAX plugin names that of SciPy, on which JAX depends).
LapackLibrary OpenLapack() {
  for (const char* name :
       {static_cast<const char*>(getenv("HLOKIT_LAPACK")), "libopenblas.so.0", "liblapack.so.3",
        "libopenblas.so", static_cast<const char*>(getenv("HLOKIT_SCIPY_LAPACK"))}) {
    LapackLibrary library;
    if (name != nullptr) library.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library.handle == nullptr) continue;
    if (dlsym(library.handle, "sgetrf_") == nullptr) library.prefix = "scipy_";
    // One thread: matrices of a batch run in parallel, and results must not depend on the number of
    // threads.
    if (void* set = library.Find("openblas_set_num_threads"))
      reinterpret_cast<void (*)(int)>(set)(1);
    return library;
  }
  return {};
}

// Matrices of at most so many rows and columns are factored here: a call of LAPACK takes as long as
// the arithmetic on many of them.
constexpr int kMaxSmallLu = 16;

// What LAPACK compares to find a pivot.
template <typename T>
RealOf<T> PivotMagnitude(T x) {
  if constexpr (kIsComplex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

// getrf of a matrix in columns: L below the diagonal, U above; rows are exchanged in order with
// those of pivots (from 1). Returns info: the first pivot that is zero, from 1; 0 for none.
template <typename T>
int FactorSmallLu(int m, int n, T* a, int* pivots) {
  int info = 0;
  for (int k = 0; k < std::min(m, n); ++k) {
    T* const column = a + int64_t{k} * m;
    int pivot = k;
    for (int i = k + 1; i < m; ++i)
      if (PivotMagnitude(column[i]) > PivotMagnitude(column[pivot])) pivot = i;
    pivots[k] = pivot + 1;
    if (column[pivot] == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    if (pivot != k)
      for (int j = 0; j < n; ++j) std::swap(a[k + j * m], a[pivot + j * m]);
    for (int i = k + 1; i < m; ++i) column[i] /= column[k];
    for (int j = k + 1; j < n; ++j) {
      const T factor = a[k + j * m];
      for (int i = k + 1; i < m; ++i) a[i + j * m] -= column[i] * factor;
    }
  }
  return info;
}

template <typename T>
void RunGetrf(const LapackCall<T>& call) {
  using Getrf = void(const int*, const int*, T*, const int*, int*, int*);
  const bool is_small = std::max(call.m, call.n) <= kMaxSmallLu;
  Getrf* getrf = is_small ? nullptr : call.template Find<Getrf>("getrf");
  if (getrf == nullptr && !is_small) return;
  const int64_t size = int64_t{call.m} * call.n;
  call.Begin(0, 0, size);
  const int lda = std::max(1, call.m), pivots = std::min(call.m, call.n);
  call.ForBatch(0, [&](int64_t i, char*) {
    if (is_small) {
      *call.template Result<int>(2, i, 1) =
          FactorSmallLu(call.m, call.n, call.template Result<T>(0, i, size),
                        call.template Result<int>(1, i, pivots));
      return;
    }
    getrf(&call.m, &call.n, call.template Result<T>(0, i, size), &lda,
          call.template Result<int>(1, i, pivots), call.template Result<int>(2, i, 1));
  });
}

template <typename T>
void RunGeqrf(const LapackCall<T>& call) {
  using Geqrf = void(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  Geqrf* geqrf = call.template Find<Geqrf>("geqrf");
  if (geqrf == nullptr) return;
  const int64_t size = int64_t{call.m} * call.n;
  call.Begin(0, 0, size);
  const int lda = std::max(1, call.m), taus = std::min(call.m, call.n), ask = -1;
  int info = 0;
  T query = T(1);
  geqrf(&call.m, &call.n, nullptr, &lda, nullptr, &query, &ask, &info);
  const int lwork = WorkSize(query);
  call.ForBatch(lwork * sizeof(T), [&](int64_t i, char* work) {
    int status = 0;
    geqrf(&call.m, &call.n, call.template Result<T>(0, i, size), &lda,
          call.template Result<T>(1, i, taus), reinterpret_cast<T*>(work), &lwork, &status);
  });
}

template <typename T>
void RunGeqp3(const LapackCall<T>& call) {
  using Real = RealOf<T>;
  // The complex function has an array of reals before info.
  using RealCall = void(const int*, const int*, T*, const int*, int*, T*, T*, const int*, int*);
  using ComplexCall =
      void(const int*, const int*, T*, const int*, int*, T*, T*, const int*, Real*, int*);
  auto* geqp3 =
      call.template Find<std::conditional_t<kIsComplex<T>, ComplexCall, RealCall>>("geqp3");
  if (geqp3 == nullptr) return;
  const int64_t size = int64_t{call.m} * call.n;
  call.Begin(0, 0, size);
  call.template Begin<int>(1, 1, call.n);
  const int lda = std::max(1, call.m), taus = std::min(call.m, call.n), ask = -1;
  auto run = [&](T* a, int* pivots, T* tau, T* work, const int* lwork, Real* reals) {
    int info = 0;
    if constexpr (kIsComplex<T>)
      geqp3(&call.m, &call.n, a, &lda, pivots, tau, work, lwork, reals, &info);
    else
      geqp3(&call.m, &call.n, a, &lda, pivots, tau, work, lwork, &info);
  };
  T query = T(1);
  run(nullptr, nullptr, nullptr, &query, &ask, nullptr);
  const int lwork = WorkSize(query);
  const int64_t reals = 2 * int64_t{call.n};
  call.ForBatch(WorkSpace::Bytes<T>(lwork) + WorkSpace::Bytes<Real>(reals),
                [&](int64_t i, char* memory) {
                  WorkSpace work(memory);
                  T* numbers = work.Take<T>(lwork);
                  run(call.template Result<T>(0, i, size), call.template Result<int>(1, i, call.n),
                      call.template Result<T>(2, i, taus), numbers, &lwork, work.Take<Real>(reals));
                });
}

template <typename T>
void RunOrgqr(const LapackCall<T>& call) {
  using Orgqr =
      void(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
  Orgqr* orgqr = call.template Find<Orgqr>(kIsComplex<T> ? "ungqr" : "orgqr");
  if (orgqr == nullptr) return;
  const int64_t size = int64_t{call.m} * call.n;
  call.Begin(0, 0, size);
  const int lda = std::max(1, call.m), ask = -1;
  int info = 0;
  T query = T(1);
  orgqr(&call.m, &call.n, &call.k, nullptr, &lda, nullptr, &query, &ask, &info);
  const int lwork = WorkSize(query);
  call.ForBatch(lwork * sizeof(T), [&](int64_t i, char* work) {
    int status = 0;
    orgqr(&call.m, &call.n, &call.k, call.template Result<T>(0, i, size), &lda,
          call.template Operand<T>(1, i, call.k), reinterpret_cast<T*>(work), &lwork, &status);
  });
}

template <typename T>
void RunOrmqr(const LapackCall<T>& call) {
  using Ormqr = void(const char*, const char*, const int*, const int*, const int*, const T*,
                     const int*, const T*, T*, const int*, T*, const int*, int*, size_t, size_t);
  Ormqr* ormqr = call.template Find<Ormqr>(kIsComplex<T> ? "unmqr" : "ormqr");
  if (ormqr == nullptr) return;
  const int64_t size = int64_t{call.m} * call.n;
  call.Begin(2, 0, size);
  const char side = call.d.left ? 'L' : 'R', trans = !call.d.transpose ? 'N'
                                                     : kIsComplex<T>   ? 'C'
                                                                       : 'T';
  const int rows = call.d.left ? call.m : call.n, lda = std::max(1, rows),
            ldc = std::max(1, call.m), ask = -1;
  int info = 0;
  T query = T(1);
  ormqr(&side, &trans, &call.m, &call.n, &call.k, nullptr, &lda, nullptr, nullptr, &ldc, &query,
        &ask, &info, 1, 1);
  const int lwork = WorkSize(query);
  call.ForBatch(lwork * sizeof(T), [&](int64_t i, char* work) {
    int status = 0;
    ormqr(&side, &trans, &call.m, &call.n, &call.k,
          call.template Operand<T>(0, i, int64_t{rows} * call.k), &lda,
          call.template Operand<T>(1, i, call.k), call.template Result<T>(0, i, size), &ldc,
          reinterpret_cast<T*>(work), &lwork, &status, 1, 1);
  });
}

template <typename T>
void RunGtsv(const LapackCall<T>& call) {
  using Gtsv = void(const int*, const int*, T*, T*, T*, T*, const int*, int*);
  Gtsv* gtsv = call.template Find<Gtsv>("gtsv");
  if (gtsv == nullptr) return;
  const int n = call.n, ldb = std::max(1, n);
  for (int i = 0; i < 3; ++i) call.Begin(i, i, n);
  call.Begin(3, 3, int64_t{n} * call.k);
  call.ForBatch(0, [&](int64_t i, char*) {
    gtsv(&n, &call.k, call.template Result<T>(0, i, n) + 1, call.template Result<T>(1, i, n),
         call.template Result<T>(2, i, n), call.template Result<T>(3, i, int64_t{n} * call.k), &ldb,
         call.template Result<int>(4, i, 1));
  });
}

void RunPotrf(void* ctx, const HlokitLapackDesc& d, const void* const* operands,
              void* const* results) {
  const HlokitCholeskyDesc cholesky = {d.type, d.batch, d.n, d.uplo == 'L', {1, d.n}, {1, d.n}};
  hlokit_cholesky(ctx, &cholesky, operands[0], results[0], static_cast<int32_t*>(results[1]));
}

void RunTrsm(void* ctx, const HlokitLapackDesc& d, const void* const* operands,
             void* const* results) {
  const int64_t order = d.side == 'L' ? d.m : d.n;
  const int64_t op = d.trans == 'N'   ? HLOKIT_NO_TRANSPOSE
                     : d.trans == 'T' ? HLOKIT_TRANSPOSE
                                      : HLOKIT_ADJOINT;
  const HlokitTriangularSolveDesc solve = {d.type,        d.batch,       d.m,           d.n,
                                           d.side == 'L', d.uplo == 'L', d.diag == 'U', op,
                                           {1, order},    {1, d.m},      {1, d.m}};
  hlokit_triangular_solve(ctx, &solve, operands[0], operands[1], results[0]);
}

template <typename T>
void RunFunction(const LapackCall<T>& call) {
  switch (call.d.function) {
    case HLOKIT_LAPACK_GETRF:
      return RunGetrf(call);
    case HLOKIT_LAPACK_GEQRF:
      return RunGeqrf(call);
    case HLOKIT_LAPACK_GEQP3:
      return RunGeqp3(call);
    case HLOKIT_LAPACK_ORGQR:
      return RunOrgqr(call);
    case HLOKIT_LAPACK_ORMQR:
      return RunOrmqr(call);
    case HLOKIT_LAPACK_GESDD:
      return RunGesdd(call);
    case HLOKIT_LAPACK_GESVD:
      return RunGesvd(call);
    case HLOKIT_LAPACK_SYEVD:
      return RunSyevd(call);
    case HLOKIT_LAPACK_SYTRD:
      return RunSytrd(call);
    case HLOKIT_LAPACK_GEEV:
      return RunGeev(call);
    case HLOKIT_LAPACK_GEES:
      return RunGees(call);
    case HLOKIT_LAPACK_GEHRD:
      return RunGehrd(call);
    case HLOKIT_LAPACK_GTSV:
      return RunGtsv(call);
    default:
      SetKernelError(call.ctx, "LAPACK function number %d is unknown",
                     static_cast<int>(call.d.function));
  }
}

struct TargetName {
  const char* name;
  HlokitLapackFunction function;
};
constexpr TargetName kTargets[] = {
    {"getrf", HLOKIT_LAPACK_GETRF}, {"geqrf", HLOKIT_LAPACK_GEQRF}, {"geqp3", HLOKIT_LAPACK_GEQP3},
    {"orgqr", HLOKIT_LAPACK_ORGQR}, {"ungqr", HLOKIT_LAPACK_ORGQR}, {"ormqr", HLOKIT_LAPACK_ORMQR},
    {"unmqr", HLOKIT_LAPACK_ORMQR}, {"gesdd", HLOKIT_LAPACK_GESDD}, {"gesvd", HLOKIT_LAPACK_GESVD},
    {"syevd", HLOKIT_LAPACK_SYEVD}, {"heevd", HLOKIT_LAPACK_SYEVD}, {"sytrd", HLOKIT_LAPACK_SYTRD},
    {"hetrd", HLOKIT_LAPACK_SYTRD}, {"geev", HLOKIT_LAPACK_GEEV},   {"gees", HLOKIT_LAPACK_GEES},
    {"gehrd", HLOKIT_LAPACK_GEHRD}, {"gtsv", HLOKIT_LAPACK_GTSV},   {"potrf", HLOKIT_LAPACK_POTRF},
    {"trsm", HLOKIT_LAPACK_TRSM},
};

}  // namespace

void* FindLapackSymbol(const char* name) {
  static const LapackLibrary library = OpenLapack();
  return library.Find(name);
}

bool FindLapackTarget(const char* target, int64_t* function, int64_t* type) {
  constexpr char kPrefix[] = "lapack_";
  constexpr size_t kPrefixLength = sizeof(kPrefix) - 1;
  if (strncmp(target, kPrefix, kPrefixLength) != 0) return false;
  target += kPrefixLength;
  switch (*target++) {
    case 's':
      *type = HLOKIT_F32;
      break;
    case 'd':
      *type = HLOKIT_F64;
      break;
    case 'c':
      *type = HLOKIT_C64;
      break;
    case 'z':
      *type = HLOKIT_C128;
      break;
    default:
      return false;
  }
  for (const TargetName& known : kTargets) {
    const size_t length = strlen(known.name);
    if (strncmp(target, known.name, length) != 0 || strcmp(target + length, "_ffi") != 0) continue;
    *function = known.function;
    return true;
  }
  return false;
}

}  // namespace hlokit

extern "C" void hlokit_lapack(void* ctx, const HlokitLapackDesc* desc, const void* const* operands,
                              void* const* results) {
  using hlokit::LapackCall;
  const HlokitLapackDesc& d = *desc;
  if (d.batch <= 0) return;
  if (std::max({d.m, d.n, d.k}) > INT32_MAX)
    return hlokit_set_error(ctx, "a matrix is too large for LAPACK");
  if (d.function == HLOKIT_LAPACK_POTRF) return hlokit::RunPotrf(ctx, d, operands, results);
  if (d.function == HLOKIT_LAPACK_TRSM) return hlokit::RunTrsm(ctx, d, operands, results);
  switch (d.type) {
    case HLOKIT_F32:
      return hlokit::RunFunction(LapackCall<float>(ctx, d, operands, results));
    case HLOKIT_F64:
      return hlokit::RunFunction(LapackCall<double>(ctx, d, operands, results));
    case HLOKIT_C64:
      return hlokit::RunFunction(LapackCall<std::complex<float>>(ctx, d, operands, results));
    case HLOKIT_C128:
      return hlokit::RunFunction(LapackCall<std::complex<double>>(ctx, d, operands, results));
    default:
      hlokit::SetKernelError(ctx, "element type %d in LAPACK", static_cast<int>(d.type));
  }
}
// SPDX-License-Identifier: Apache-2.0
