// LAPACK's singular values (gesdd, gesvd), eigenvalues (syevd, heevd, geev), Schur forms (gees) and
// reductions (sytrd, gehrd). See lapack.cc for how calls are made.
//
// As in jaxlib, a matrix with an infinity or NaN is not given to the divide-and-conquer functions,
// which may not end on it: its results are NaN and its info is -4.
// Each wrapper has the same parts: the two signatures (complex functions take arrays of reals
// besides), sizes of the arrays by mode, the query for the workspace, then one call a matrix. Real
// eigenvectors come from geev as pairs of columns, real and imaginary part, where eigenvalues are
// conjugate, and are put together into complex ones here, since XLA's results are complex.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/linalg/lapack_internal.h"

namespace hlokit {
namespace {

template <typename T>
bool AllFinite(const T* x, int64_t count) {
  return std::all_of(x, x + count, [](const T& v) {
    return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
  });
}

template <typename T>
void FillNan(T* x, int64_t count) {
  std::fill_n(x, count, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
}

// Sizes of u (rows by columns) and vt for a mode; the arrays have these shapes even where mode 'N'
// leaves them unset.
struct SvdShapes {
  int u_cols, vt_rows;
};
SvdShapes ShapesFor(int64_t mode, int m, int n) {
  const int least = std::min(m, n);
  return mode == 'S' ? SvdShapes{least, least} : SvdShapes{m, n};
}

// The matrices of one singular value decomposition.
template <typename T>
struct Svd {
  T* a;
  RealOf<T>* s;
  T *u, *vt;
  int* info;
};

// Runs `decompose(svd, numbers, lwork, work)` over the batch; matrices that are not finite give NaN
// and info -4.
template <typename T, typename Decompose>
void RunSvd(const LapackCall<T>& call, int lwork, int64_t more_bytes, const Decompose& decompose) {
  const int m = call.m, n = call.n, least = std::min(m, n);
  const SvdShapes shapes = ShapesFor(call.d.mode, m, n);
  const int64_t a_size = int64_t{m} * n, u_size = int64_t{m} * shapes.u_cols,
                vt_size = int64_t{shapes.vt_rows} * n;
  call.Begin(0, 0, a_size);
  call.ForBatch(WorkSpace::Bytes<T>(lwork) + more_bytes, [&](int64_t i, char* memory) {
    const Svd<T> svd = {call.template Result<T>(0, i, a_size),
                        call.template Result<RealOf<T>>(1, i, least),
                        call.template Result<T>(2, i, u_size),
                        call.template Result<T>(3, i, vt_size), call.template Result<int>(4, i, 1)};
    if (AllFinite(svd.a, a_size)) {
      WorkSpace work(memory);
      T* numbers = work.Take<T>(lwork);
      return decompose(svd, numbers, work);
    }
    *svd.info = -4;
    FillNan(svd.s, least);
    if (call.d.mode == 'N') return;
    FillNan(svd.u, u_size);
    FillNan(svd.vt, vt_size);
  });
}

}  // namespace

template <typename T>
void RunGesdd(const LapackCall<T>& call) {
  using Real = RealOf<T>;
  using RealCall = void(const char*, const int*, const int*, T*, const int*, Real*, T*, const int*,
                        T*, const int*, T*, const int*, int*, int*, size_t);
  using ComplexCall = void(const char*, const int*, const int*, T*, const int*, Real*, T*,
                           const int*, T*, const int*, T*, const int*, Real*, int*, int*, size_t);
  auto* gesdd =
      call.template Find<std::conditional_t<kIsComplex<T>, ComplexCall, RealCall>>("gesdd");
  if (gesdd == nullptr) return;
  const int m = call.m, n = call.n, least = std::min(m, n), most = std::max(m, n);
  const char mode = static_cast<char>(call.d.mode);
  const int lda = std::max(1, m), ldvt = std::max(1, ShapesFor(mode, m, n).vt_rows), ask = -1;
  auto run = [&](const Svd<T>& svd, T* work, const int* lwork, Real* reals, int* integers) {
    if constexpr (kIsComplex<T>) {
      gesdd(&mode, &m, &n, svd.a, &lda, svd.s, svd.u, &lda, svd.vt, &ldvt, work, lwork, reals,
            integers, svd.info, 1);
    } else {
      gesdd(&mode, &m, &n, svd.a, &lda, svd.s, svd.u, &lda, svd.vt, &ldvt, work, lwork, integers,
            svd.info, 1);
    }
  };
  int info = 0;
  T query = T(1);
  run({nullptr, nullptr, nullptr, nullptr, &info}, &query, &ask, nullptr, nullptr);
  const int lwork = WorkSize(query);
  const int64_t small = least, large = most;
  const int64_t reals = kIsComplex<T> ? std::max(5 * small * small + 7 * small,
                                                 2 * large * small + 2 * small * small + small) +
                                            1
                                      : 0;
  RunSvd(call, lwork, WorkSpace::Bytes<Real>(reals) + WorkSpace::Bytes<int>(8 * small),
         [&](const Svd<T>& svd, T* numbers, WorkSpace& work) {
           Real* real_work = work.Take<Real>(reals);
           run(svd, numbers, &lwork, real_work, work.Take<int>(8 * small));
         });
}

template <typename T>
void RunGesvd(const LapackCall<T>& call) {
  using Real = RealOf<T>;
  using RealCall = void(const char*, const char*, const int*, const int*, T*, const int*, Real*, T*,
                        const int*, T*, const int*, T*, const int*, int*, size_t, size_t);
  using ComplexCall =
      void(const char*, const char*, const int*, const int*, T*, const int*, Real*, T*, const int*,
           T*, const int*, T*, const int*, Real*, int*, size_t, size_t);
  auto* gesvd =
      call.template Find<std::conditional_t<kIsComplex<T>, ComplexCall, RealCall>>("gesvd");
  if (gesvd == nullptr) return;
  const int m = call.m, n = call.n, least = std::min(m, n);
  const char mode = static_cast<char>(call.d.mode);
  const int lda = std::max(1, m), ldvt = std::max(1, ShapesFor(mode, m, n).vt_rows), ask = -1;
  auto run = [&](const Svd<T>& svd, T* work, const int* lwork, Real* reals) {
    if constexpr (kIsComplex<T>) {
      gesvd(&mode, &mode, &m, &n, svd.a, &lda, svd.s, svd.u, &lda, svd.vt, &ldvt, work, lwork,
            reals, svd.info, 1, 1);
    } else {
      gesvd(&mode, &mode, &m, &n, svd.a, &lda, svd.s, svd.u, &lda, svd.vt, &ldvt, work, lwork,
            svd.info, 1, 1);
    }
  };
  int info = 0;
  T query = T(1);
  run({nullptr, nullptr, nullptr, nullptr, &info}, &query, &ask, nullptr);
  const int lwork = WorkSize(query);
  const int64_t reals = kIsComplex<T> ? 5 * least : 0;
  RunSvd(call, lwork, WorkSpace::Bytes<Real>(reals),
         [&](const Svd<T>& svd, T* numbers, WorkSpace& work) {
           run(svd, numbers, &lwork, work.Take<Real>(reals));
         });
}

template <typename T>
void RunSyevd(const LapackCall<T>& call) {
  using Real = RealOf<T>;
  using RealCall = void(const char*, const char*, const int*, T*, const int*, Real*, T*, const int*,
                        int*, const int*, int*, size_t, size_t);
  using ComplexCall = void(const char*, const char*, const int*, T*, const int*, Real*, T*,
                           const int*, Real*, const int*, int*, const int*, int*, size_t, size_t);
  auto* syevd = call.template Find<std::conditional_t<kIsComplex<T>, ComplexCall, RealCall>>(
      kIsComplex<T> ? "heevd" : "syevd");
  if (syevd == nullptr) return;
  const int n = call.n, lda = std::max(1, n), ask = -1;
  const char mode = static_cast<char>(call.d.mode), uplo = static_cast<char>(call.d.uplo);
  struct Sizes {
    int numbers, reals, integers;
  };
  auto run = [&](T* a, Real* w, T* work, Real* reals, int* integers, const Sizes& sizes,
                 int* info) {
    if constexpr (kIsComplex<T>) {
      syevd(&mode, &uplo, &n, a, &lda, w, work, &sizes.numbers, reals, &sizes.reals, integers,
            &sizes.integers, info, 1, 1);
    } else {
      syevd(&mode, &uplo, &n, a, &lda, w, work, &sizes.numbers, integers, &sizes.integers, info, 1,
            1);
    }
  };
  T query = T(1);
  Real real_query = 1;
  int integers = 1, info = 0;
  run(nullptr, nullptr, &query, &real_query, &integers, {ask, ask, ask}, &info);
  const Sizes sizes = {WorkSize(query), WorkSize(real_query), std::max(1, integers)};
  const int64_t size = int64_t{n} * n;
  call.Begin(0, 0, size);
  const int64_t bytes = WorkSpace::Bytes<T>(sizes.numbers) + WorkSpace::Bytes<Real>(sizes.reals) +
                        WorkSpace::Bytes<int>(sizes.integers);
  call.ForBatch(bytes, [&](int64_t i, char* memory) {
    WorkSpace work(memory);
    T* numbers = work.Take<T>(sizes.numbers);
    Real* reals = work.Take<Real>(sizes.reals);
    run(call.template Result<T>(0, i, size), call.template Result<Real>(1, i, n), numbers, reals,
        work.Take<int>(sizes.integers), sizes, call.template Result<int>(2, i, 1));
  });
}

template <typename T>
void RunSytrd(const LapackCall<T>& call) {
  using Real = RealOf<T>;
  using Sytrd =
      void(const char*, const int*, T*, const int*, Real*, Real*, T*, T*, const int*, int*, size_t);
  Sytrd* sytrd = call.template Find<Sytrd>(kIsComplex<T> ? "hetrd" : "sytrd");
  if (sytrd == nullptr) return;
  const int n = call.n, lda = std::max(1, n), ask = -1;
  const char uplo = static_cast<char>(call.d.uplo);
  T query = T(1);
  int info = 0;
  sytrd(&uplo, &n, nullptr, &lda, nullptr, nullptr, nullptr, &query, &ask, &info, 1);
  const int lwork = WorkSize(query);
  const int64_t size = int64_t{n} * n, others = std::max(0, n - 1);
  call.Begin(0, 0, size);
  call.ForBatch(lwork * sizeof(T), [&](int64_t i, char* work) {
    sytrd(&uplo, &n, call.template Result<T>(0, i, size), &lda, call.template Result<Real>(1, i, n),
          call.template Result<Real>(2, i, others), call.template Result<T>(3, i, others),
          reinterpret_cast<T*>(work), &lwork, call.template Result<int>(4, i, 1), 1);
  });
}

namespace {

// LAPACK packs conjugate pairs of eigenvectors of a real matrix as real and imaginary columns.
template <typename Real>
void UnpackVectors(int64_t n, const Real* imaginary, const Real* packed,
                   std::complex<Real>* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const Real* column = packed + j * n;
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      vectors[j * n + i] = {column[i], pair ? column[n + i] : Real(0)};
      if (pair) vectors[(j + 1) * n + i] = {column[i], -column[n + i]};
    }
    j += pair;
  }
}

// Results of one eigenvalue problem; `wi` for real matrices alone.
template <typename T>
struct Eigen {
  T *w, *wi;
  std::complex<RealOf<T>>*left, *right;
  int* info;
};

template <typename T>
Eigen<T> EigenAt(const LapackCall<T>& call, int64_t i) {
  using Complex = std::complex<RealOf<T>>;
  const int64_t n = call.n, size = n * n;
  constexpr int kVectors = kIsComplex<T> ? 1 : 2;
  return {call.template Result<T>(0, i, n),
          kIsComplex<T> ? nullptr : call.template Result<T>(kVectors - 1, i, n),
          call.template Result<Complex>(kVectors, i, size),
          call.template Result<Complex>(kVectors + 1, i, size),
          call.template Result<int>(kVectors + 2, i, 1)};
}

template <typename T>
void FillNan(const LapackCall<T>& call, const Eigen<T>& e) {
  const int64_t n = call.n;
  FillNan(e.w, n);
  if (e.wi != nullptr) FillNan(e.wi, n);
  if (call.d.left_mode == 'V') FillNan(e.left, n * n);
  if (call.d.mode == 'V') FillNan(e.right, n * n);
  *e.info = -4;
}

}  // namespace

template <typename T>
void RunGeev(const LapackCall<T>& call) {
  using Real = RealOf<T>;
  using RealCall = void(const char*, const char*, const int*, T*, const int*, T*, T*, T*,
                        const int*, T*, const int*, T*, const int*, int*, size_t, size_t);
  using ComplexCall = void(const char*, const char*, const int*, T*, const int*, T*, T*, const int*,
                           T*, const int*, T*, const int*, Real*, int*, size_t, size_t);
  auto* geev = call.template Find<std::conditional_t<kIsComplex<T>, ComplexCall, RealCall>>("geev");
  if (geev == nullptr) return;
  const int n = call.n, lda = std::max(1, n), ask = -1;
  const char left = static_cast<char>(call.d.left_mode), right = static_cast<char>(call.d.mode);
  auto run = [&](T* a, const Eigen<T>& e, T* vl, T* vr, T* work, const int* lwork, Real* reals) {
    if constexpr (kIsComplex<T>) {
      geev(&left, &right, &n, a, &lda, e.w, vl, &lda, vr, &lda, work, lwork, reals, e.info, 1, 1);
    } else {
      geev(&left, &right, &n, a, &lda, e.w, e.wi, vl, &lda, vr, &lda, work, lwork, e.info, 1, 1);
    }
  };
  T query = T(1);
  Real real_query = 1;  // of xTREVC3, which writes it
  int info = 0;
  run(nullptr, {nullptr, nullptr, nullptr, nullptr, &info}, nullptr, nullptr, &query, &ask,
      &real_query);
  const int lwork = WorkSize(query);
  const int64_t size = int64_t{n} * n;
  const int64_t bytes =
      3 * WorkSpace::Bytes<T>(size) + WorkSpace::Bytes<T>(lwork) + WorkSpace::Bytes<Real>(2 * n);
  call.ForBatch(bytes, [&](int64_t i, char* memory) {
    WorkSpace work(memory);
    const Eigen<T> e = EigenAt(call, i);
    T* a = work.Take<T>(size);
    std::copy_n(call.template Operand<T>(0, i, size), size, a);
    if (!AllFinite(a, size)) return FillNan(call, e);
    T *vl = work.Take<T>(size), *vr = work.Take<T>(size), *numbers = work.Take<T>(lwork);
    if constexpr (kIsComplex<T>) {
      run(a, e, e.left, e.right, numbers, &lwork, work.Take<Real>(2 * n));
    } else {
      run(a, e, vl, vr, numbers, &lwork, nullptr);
      if (left == 'V') UnpackVectors<Real>(n, e.wi, vl, e.left);
      if (right == 'V') UnpackVectors<Real>(n, e.wi, vr, e.right);
    }
  });
}

template <typename T>
void RunGees(const LapackCall<T>& call) {
  using Real = RealOf<T>;
  using Select = int(...);
  using RealCall = void(const char*, const char*, Select*, const int*, T*, const int*, int*, T*, T*,
                        T*, const int*, T*, const int*, int*, int*, size_t, size_t);
  using ComplexCall = void(const char*, const char*, Select*, const int*, T*, const int*, int*, T*,
                           T*, const int*, T*, const int*, Real*, int*, int*, size_t, size_t);
  auto* gees = call.template Find<std::conditional_t<kIsComplex<T>, ComplexCall, RealCall>>("gees");
  if (gees == nullptr) return;
  constexpr int kAfterValues = kIsComplex<T> ? 3 : 4;
  const int n = call.n, lda = std::max(1, n), ask = -1;
  const char mode = static_cast<char>(call.d.mode), unsorted = 'N';
  auto run = [&](T* a, T* w, T* wi, T* vs, int* count, T* work, const int* lwork, Real* reals,
                 int* info) {
    if constexpr (kIsComplex<T>) {
      gees(&mode, &unsorted, nullptr, &n, a, &lda, count, w, vs, &lda, work, lwork, reals, nullptr,
           info, 1, 1);
    } else {
      gees(&mode, &unsorted, nullptr, &n, a, &lda, count, w, wi, vs, &lda, work, lwork, nullptr,
           info, 1, 1);
    }
  };
  T query = T(1);
  int info = 0, none = 0;
  run(nullptr, nullptr, nullptr, nullptr, &none, &query, &ask, nullptr, &info);
  const int lwork = WorkSize(query);
  const int64_t size = int64_t{n} * n;
  call.Begin(0, 0, size);
  call.ForBatch(
      WorkSpace::Bytes<T>(lwork) + WorkSpace::Bytes<Real>(n), [&](int64_t i, char* memory) {
        WorkSpace work(memory);
        T* numbers = work.Take<T>(lwork);
        run(call.template Result<T>(0, i, size), call.template Result<T>(2, i, n),
            kIsComplex<T> ? nullptr : call.template Result<T>(kAfterValues - 1, i, n),
            call.template Result<T>(1, i, size), call.template Result<int>(kAfterValues, i, 1),
            numbers, &lwork, work.Take<Real>(n), call.template Result<int>(kAfterValues + 1, i, 1));
      });
}

template <typename T>
void RunGehrd(const LapackCall<T>& call) {
  using Gehrd = void(const int*, const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  Gehrd* gehrd = call.template Find<Gehrd>("gehrd");
  if (gehrd == nullptr) return;
  const int n = call.n, lda = std::max(1, n), low = static_cast<int>(call.d.low), ask = -1;
  const int high = static_cast<int>(call.d.high);
  T query = T(1);
  int info = 0;
  gehrd(&n, &low, &high, nullptr, &lda, nullptr, &query, &ask, &info);
  const int lwork = WorkSize(query);
  const int64_t size = int64_t{n} * n, taus = std::max(0, n - 1);
  call.Begin(0, 0, size);
  call.ForBatch(lwork * sizeof(T), [&](int64_t i, char* work) {
    gehrd(&n, &low, &high, call.template Result<T>(0, i, size), &lda,
          call.template Result<T>(1, i, taus), reinterpret_cast<T*>(work), &lwork,
          call.template Result<int>(2, i, 1));
  });
}

#define HLOKIT_INSTANTIATE(T)                        \
  template void RunGesdd(const LapackCall<T>& call); \
  template void RunGesvd(const LapackCall<T>& call); \
  template void RunSyevd(const LapackCall<T>& call); \
  template void RunSytrd(const LapackCall<T>& call); \
  template void RunGeev(const LapackCall<T>& call);  \
  template void RunGees(const LapackCall<T>& call);  \
  template void RunGehrd(const LapackCall<T>& call);
HLOKIT_INSTANTIATE(float)
HLOKIT_INSTANTIATE(double)
HLOKIT_INSTANTIATE(std::complex<float>)
HLOKIT_INSTANTIATE(std::complex<double>)
#undef HLOKIT_INSTANTIATE

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
