// What the LAPACK wrappers share: symbols loaded at run time, copies, and loops over the batch.
#pragma once

#include <string.h>

#include <complex>
#include <type_traits>

#include "runtime/context.h"
#include "runtime/linalg/lapack.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {

// The address of a LAPACK function in OpenBLAS (or the reference LAPACK), or null.
void* FindLapackSymbol(const char* name);

template <typename T>
struct LapackTraits;
template <>
struct LapackTraits<float> {
  using Real = float;
  static constexpr char kLetter = 's';
};
template <>
struct LapackTraits<double> {
  using Real = double;
  static constexpr char kLetter = 'd';
};
template <>
struct LapackTraits<std::complex<float>> {
  using Real = float;
  static constexpr char kLetter = 'c';
};
template <>
struct LapackTraits<std::complex<double>> {
  using Real = double;
  static constexpr char kLetter = 'z';
};

// The address of the function `name`, without its type letter, for elements of type T; or null.
template <typename T>
void* FindLapackFunction(const char* name) {
  char symbol[16] = {LapackTraits<T>::kLetter};
  strcpy(symbol + 1, name);
  strcat(symbol, "_");
  return FindLapackSymbol(symbol);
}

template <typename T>
using RealOf = typename LapackTraits<T>::Real;
template <typename T>
constexpr bool kIsComplex = !std::is_same_v<T, RealOf<T>>;

// One call of hlokit_lapack for matrices of type T.
template <typename T>
class LapackCall {
 public:
  LapackCall(void* ctx, const HlokitLapackDesc& d, const void* const* operands,
             void* const* results)
      : ctx(ctx),
        d(d),
        m(static_cast<int>(d.m)),
        n(static_cast<int>(d.n)),
        k(static_cast<int>(d.k)),
        operands_(operands),
        results_(results) {}

  void* const ctx;
  const HlokitLapackDesc& d;
  const int m, n, k;

  // Matrix i of a batch of `size` elements each.
  template <typename E>
  E* Result(int index, int64_t i, int64_t size) const {
    return static_cast<E*>(results_[index]) + i * size;
  }
  template <typename E>
  const E* Operand(int index, int64_t i, int64_t size) const {
    return static_cast<const E*>(operands_[index]) + i * size;
  }

  // Result `result` starts as operand `operand`; `size` elements of type E a matrix.
  template <typename E = T>
  void Begin(int operand, int result, int64_t size) const {
    if (operands_[operand] != results_[result]) {
      memcpy(results_[result], operands_[operand], d.batch * size * sizeof(E));
    }
  }

  // The Fortran function `name` (without its type letter) as a function of type F; reports its
  // absence.
  template <typename F>
  F* Find(const char* name) const {
    void* address = FindLapackFunction<T>(name);
    if (address == nullptr)
      SetKernelError(ctx, "LAPACK's %c%s_ is not available: is OpenBLAS installed?",
                     LapackTraits<T>::kLetter, name);
    return reinterpret_cast<F*>(address);
  }

  // Calls body(i, work) for each matrix, in parallel; work has `work_bytes` bytes of a thread's
  // own.
  template <typename Body>
  void ForBatch(int64_t work_bytes, const Body& body) const {
    ParallelFor(ctx, d.batch, 1, [&](int64_t begin, int64_t end) {
      Scratch scratch(work_bytes);
      if (scratch.data() == nullptr) return hlokit_set_error(ctx, "out of memory in LAPACK");
      for (int64_t i = begin; i < end; ++i) body(i, scratch.as<char>());
    });
  }

 private:
  const void* const* operands_;
  void* const* results_;
};

// Cuts one block of scratch into arrays.
class WorkSpace {
 public:
  explicit WorkSpace(char* next) : next_(next) {}
  template <typename E>
  E* Take(int64_t count) {
    E* taken = reinterpret_cast<E*>(next_);
    next_ += Bytes<E>(count);
    return taken;
  }
  template <typename E>
  static int64_t Bytes(int64_t count) {
    return (count * sizeof(E) + 63) / 64 * 64;
  }

 private:
  char* next_;
};

// The optimal work size that a query left in a number of type T.
template <typename T>
int WorkSize(T query) {
  const double size = std::real(query);
  return size < 1 ? 1 : static_cast<int>(size * (1 + 1e-6));  // large sizes are rounded in f32
}

// lapack_eigen.cc
template <typename T>
void RunGesdd(const LapackCall<T>& call);
template <typename T>
void RunGesvd(const LapackCall<T>& call);
template <typename T>
void RunSyevd(const LapackCall<T>& call);
template <typename T>
void RunSytrd(const LapackCall<T>& call);
template <typename T>
void RunGeev(const LapackCall<T>& call);
template <typename T>
void RunGees(const LapackCall<T>& call);
template <typename T>
void RunGehrd(const LapackCall<T>& call);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
