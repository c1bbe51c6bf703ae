// LAPACK's routines as functions overloaded by element type: what they return is LAPACKE's info, or
// -1000 where the library or the routine is missing. Matrices are column-major.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <complex>

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

namespace hlokit {

// LAPACKE, loaded on first use, so that tools start quickly; null where it is not installed.
inline void* LapackLibrary() {
  static void* const library = [] {
    void* handle = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) handle = dlopen("liblapacke.so", RTLD_NOW | RTLD_LOCAL);
    // Operands with NaN are the routine's own business, as in jaxlib.
    if (handle != nullptr)
      if (void* set = dlsym(handle, "LAPACKE_set_nancheck"))
        reinterpret_cast<void (*)(int)>(set)(0);
    return handle;
  }();
  return library;
}

// Calls LAPACKE_<name>, or returns -1000 where the library lacks it.
template <typename Function, typename... Args>
int CallLapackSymbol(const char* name, Args... args) {
  void* symbol = LapackLibrary() == nullptr ? nullptr : dlsym(LapackLibrary(), name);
  return symbol == nullptr ? -1000 : reinterpret_cast<Function>(symbol)(args...);
}
#define HLOKIT_CALL(name, ...) \
  CallLapackSymbol<decltype(&LAPACKE_##name)>("LAPACKE_" #name, LAPACK_COL_MAJOR, __VA_ARGS__)

// The routines, overloaded by element type T with real component R; q names the orthogonal or
// unitary form, y the symmetric or Hermitian one.
#define HLOKIT_LAPACK(T, R, t, q, y)                                                              \
  inline int Potrf(char uplo, int n, T* a) {                                                      \
    return HLOKIT_CALL(t##potrf, uplo, n, a, std::max(1, n));                                     \
  }                                                                                               \
  inline int Getrf(int m, int n, T* a, int* pivots) {                                             \
    return HLOKIT_CALL(t##getrf, m, n, a, std::max(1, m), pivots);                                \
  }                                                                                               \
  inline int Geqrf(int m, int n, T* a, T* tau) {                                                  \
    return HLOKIT_CALL(t##geqrf, m, n, a, std::max(1, m), tau);                                   \
  }                                                                                               \
  inline int Geqp3(int m, int n, T* a, int* pivots, T* tau) {                                     \
    return HLOKIT_CALL(t##geqp3, m, n, a, std::max(1, m), pivots, tau);                           \
  }                                                                                               \
  inline int Orgqr(int m, int n, int k, T* a, const T* tau) {                                     \
    return HLOKIT_CALL(t##q##gqr, m, n, k, a, std::max(1, m), tau);                               \
  }                                                                                               \
  inline int Ormqr(char side, char trans, int m, int n, int k, const T* a, const T* tau, T* c) {  \
    return HLOKIT_CALL(t##q##mqr, side, trans, m, n, k, a, std::max(1, side == 'L' ? m : n), tau, \
                       c, std::max(1, m));                                                        \
  }                                                                                               \
  inline int Gehrd(int n, int low, int high, T* a, T* tau) {                                      \
    return HLOKIT_CALL(t##gehrd, n, low, high, a, std::max(1, n), tau);                           \
  }                                                                                               \
  inline int Sytrd(char uplo, int n, T* a, R* d, R* e, T* tau) {                                  \
    return HLOKIT_CALL(t##y##trd, uplo, n, a, std::max(1, n), d, e, tau);                         \
  }                                                                                               \
  inline int Syevd(char mode, char uplo, int n, T* a, R* w) {                                     \
    return HLOKIT_CALL(t##y##evd, mode, uplo, n, a, std::max(1, n), w);                           \
  }                                                                                               \
  inline int Gesdd(char mode, int m, int n, T* a, R* s, T* u, int ldu, T* vt, int ldvt) {         \
    return HLOKIT_CALL(t##gesdd, mode, m, n, a, std::max(1, m), s, u, ldu, vt, ldvt);             \
  }                                                                                               \
  inline int Gtsv(int n, int k, T* dl, T* d, T* du, T* b) {                                       \
    return HLOKIT_CALL(t##gtsv, n, k, dl, d, du, b, std::max(1, n));                              \
  }
HLOKIT_LAPACK(float, float, s, or, sy)
HLOKIT_LAPACK(double, double, d, or, sy)
HLOKIT_LAPACK(std::complex<float>, float, c, un, he)
HLOKIT_LAPACK(std::complex<double>, double, z, un, he)

// Eigenvalues of general matrices: real routines give real and imaginary parts apart.
#define HLOKIT_LAPACK_REAL(T, t)                                                            \
  inline int Geev(char l, char r, int n, T* a, T* wr, T* wi, T* vl, T* vr) {                \
    return HLOKIT_CALL(t##geev, l, r, n, a, std::max(1, n), wr, wi, vl, std::max(1, n), vr, \
                       std::max(1, n));                                                     \
  }                                                                                         \
  inline int Gees(char mode, int n, T* a, int* sdim, T* wr, T* wi, T* vs) {                 \
    return HLOKIT_CALL(t##gees, mode, 'N', nullptr, n, a, std::max(1, n), sdim, wr, wi, vs, \
                       std::max(1, n));                                                     \
  }
#define HLOKIT_LAPACK_COMPLEX(T, t)                                                    \
  inline int Geev(char l, char r, int n, T* a, T* w, T*, T* vl, T* vr) {               \
    return HLOKIT_CALL(t##geev, l, r, n, a, std::max(1, n), w, vl, std::max(1, n), vr, \
                       std::max(1, n));                                                \
  }                                                                                    \
  inline int Gees(char mode, int n, T* a, int* sdim, T* w, T*, T* vs) {                \
    return HLOKIT_CALL(t##gees, mode, 'N', nullptr, n, a, std::max(1, n), sdim, w, vs, \
                       std::max(1, n));                                                \
  }
HLOKIT_LAPACK_REAL(float, s)
HLOKIT_LAPACK_REAL(double, d)
HLOKIT_LAPACK_COMPLEX(std::complex<float>, c)
HLOKIT_LAPACK_COMPLEX(std::complex<double>, z)
#undef HLOKIT_LAPACK
#undef HLOKIT_LAPACK_REAL
#undef HLOKIT_LAPACK_COMPLEX
#undef HLOKIT_CALL

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
