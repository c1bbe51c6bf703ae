// Blocked Cholesky factorization and triangular substitution on row-major copies, for small
// matrices, unusual layouts and machines without OpenBLAS.
//
// Both work on kBlock rows or columns at a time. What the finished part contributes to a block is
// one matrix product (hlokit_dot), which holds nearly all of the n^3 / 3 (Cholesky) or n^2 m
// (substitution) multiply-adds; only the diagonal blocks use scalar loops:
//   L11 L11* = A11;  L21 = A21 L11^-*;  A22 -= L21 L21*   (repeated on A22)
// Matrices of a batch run in parallel. A matrix that is not positive definite gives NaN, or its
// info.
#include "runtime/linalg/linalg.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <type_traits>

#include "runtime/context.h"
#include "runtime/dot/dot.h"
#include "runtime/linalg/linalg_internal.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kBlock = 48;  // rows that are worked on without hlokit_dot

template <typename T>
constexpr bool kIsComplex = !std::is_floating_point_v<T>;
template <typename T>
constexpr int64_t kTypeOf = std::is_same_v<T, float>                 ? HLOKIT_F32
                            : std::is_same_v<T, double>              ? HLOKIT_F64
                            : std::is_same_v<T, std::complex<float>> ? HLOKIT_C64
                                                                     : HLOKIT_C128;

template <typename T>
T Conj(T x) {
  if constexpr (kIsComplex<T>)
    return std::conj(x);
  else
    return x;
}

// std::complex multiplies with checks for infinities that cost more than the product.
template <typename T>
T Product(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

template <typename T>
void SubtractMultiple(const T* from, T factor, T* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] -= Product(factor, from[i]);
}

// c -= a b, with a of rows by depth (pitch lda), b of depth by cols, c of rows by cols (pitch ldc).
template <typename T>
void SubtractProduct(void* ctx, int64_t rows, int64_t cols, int64_t depth, const T* a, int64_t lda,
                     const T* b, int64_t b_row, int64_t b_col, T* c, int64_t ldc) {
  if (rows == 0 || cols == 0 || depth == 0) return;
  Scratch scratch(rows * cols * sizeof(T));
  if (scratch.data() == nullptr) return hlokit_set_error(ctx, "out of memory in a factorization");
  T* product = scratch.as<T>();
  const HlokitDotDesc dot = {
      kTypeOf<T>, kTypeOf<T>,
      kTypeOf<T>, 0,
      1,          1,
      1,          {{rows, lda, 0, cols}, {cols, 0, b_col, 1}, {depth, 1, b_row, 0}}};
  hlokit_dot(ctx, &dot, a, b, product);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) c[i * ldc + j] -= product[i * cols + j];
  }
}

// Matrices are small as a rule: several make one piece of work.
int64_t BatchGrain(int64_t work) { return std::max<int64_t>(1, (1 << 15) / (work + 1)); }

// --- Cholesky ---

template <typename T>
class Cholesky {
 public:
  Cholesky(void* ctx, int64_t n, T* l, T* conjugates)
      : ctx_(ctx), n_(n), l_(l), conjugates_(conjugates) {}

  // Factors the lower triangle of the row-major l; 0 or the order of the first minor that is not
  // positive.
  int32_t Run() {
    for (int64_t j = 0; j < n_; j += kBlock) {
      const int64_t end = std::min(j + kBlock, n_);
      Update(j, end);
      for (int64_t k = j; k < end; ++k) {
        if (!FactorColumn(k, j)) return static_cast<int32_t>(k + 1);
      }
    }
    return 0;
  }

 private:
  T* Row(int64_t i) { return l_ + i * n_; }

  // Columns [j, end) of the rows from j on lose what the columns before j explain.
  void Update(int64_t j, int64_t end) {
    if (j == 0) return;
    for (int64_t i = j; i < end; ++i) {
      for (int64_t k = 0; k < j; ++k) conjugates_[(i - j) * j + k] = Conj(Row(i)[k]);
    }
    SubtractProduct(ctx_, n_ - j, end - j, j, Row(j), n_, conjugates_, 1, j, Row(j) + j, n_);
  }

  bool FactorColumn(int64_t k, int64_t first) {
    using std::real;
    using std::sqrt;
    auto pivot = real(Row(k)[k]);
    for (int64_t p = first; p < k; ++p) pivot -= real(Product(Row(k)[p], Conj(Row(k)[p])));
    if (!(pivot > 0)) return false;
    const auto root = sqrt(pivot);
    Row(k)[k] = root;
    for (int64_t i = k + 1; i < n_; ++i) {
      T sum = Row(i)[k];
      for (int64_t p = first; p < k; ++p) sum -= Product(Row(i)[p], Conj(Row(k)[p]));
      Row(i)[k] = sum / root;
    }
    return true;
  }

  void* ctx_;
  int64_t n_;
  T* l_;
  T* conjugates_;
};

template <typename T>
void CholeskyBatch(void* ctx, const HlokitCholeskyDesc& d, const void* from_data, void* to_data,
                   int32_t* info) {
  if (CholeskyByLibrary<T>(ctx, d, from_data, to_data, info)) return;
  const int64_t n = d.n;
  ParallelFor(ctx, d.batch, BatchGrain(n * n * n), [&](int64_t begin, int64_t end) {
    Scratch scratch((n + kBlock) * n * sizeof(T));
    if (scratch.data() == nullptr) return hlokit_set_error(ctx, "out of memory in a factorization");
    T* l = scratch.as<T>();
    for (int64_t b = begin; b < end; ++b) {
      const T* from = static_cast<const T*>(from_data) + b * n * n;
      T* to = static_cast<T*>(to_data) + b * n * n;
      // The upper triangle is the lower one transposed and conjugated.
      auto at = [&](const HlokitMatrixLayout& layout, int64_t i, int64_t j) {
        return d.lower ? i * layout.row_stride + j * layout.col_stride
                       : j * layout.row_stride + i * layout.col_stride;
      };
      // The diagonal is real: its zeros keep their sign.
      auto conjugated = [&](T x, bool diagonal) { return d.lower || diagonal ? x : Conj(x); };
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) l[i * n + j] = conjugated(from[at(d.from, i, j)], i == j);
      }
      const int32_t failed = Cholesky<T>(ctx, n, l, l + n * n).Run();
      const T nan = std::numeric_limits<decltype(std::real(T()))>::quiet_NaN();
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          T value = conjugated(l[i * n + j], i == j);
          if (info == nullptr) value = failed ? nan : j > i ? T(0) : value;
          to[at(d.to, i, j)] = value;
        }
      }
      if (info != nullptr) info[b] = failed;
    }
  });
}

// --- triangular systems ---

// The problem as `t x = b` with a row-major triangle t of `size` and row-major right-hand sides,
// `cols` of them.
template <typename T>
class Substitution {
 public:
  Substitution(void* ctx, bool lower, bool unit, int64_t size, int64_t cols, const T* t, T* x)
      : ctx_(ctx), lower_(lower), unit_(unit), size_(size), cols_(cols), t_(t), x_(x) {}

  void Run() const {
    for (int64_t done = 0; done < size_; done += kBlock) {
      const int64_t height = std::min(kBlock, size_ - done);
      const int64_t first = lower_ ? done : size_ - done - height;
      const int64_t solved =
          lower_ ? 0 : first + height;  // rows [solved, solved + done) of x are known
      SubtractProduct(ctx_, height, cols_, done, t_ + first * size_ + solved, size_,
                      x_ + solved * cols_, cols_, int64_t{1}, x_ + first * cols_, cols_);
      SolveBlock(first, first + height);
    }
  }

 private:
  void SolveBlock(int64_t first, int64_t end) const {
    for (int64_t step = 0; step < end - first; ++step) {
      const int64_t i = lower_ ? first + step : end - 1 - step;
      T* row = x_ + i * cols_;
      for (int64_t j = lower_ ? first : i + 1; j < (lower_ ? i : end); ++j) {
        SubtractMultiple(x_ + j * cols_, t_[i * size_ + j], row, cols_);
      }
      if (unit_) continue;
      for (int64_t c = 0; c < cols_; ++c) row[c] = row[c] / t_[i * size_ + i];
    }
  }

  void* ctx_;
  bool lower_, unit_;
  int64_t size_, cols_;
  const T* t_;
  T* x_;
};

template <typename T>
void SolveBatch(void* ctx, HlokitTriangularSolveDesc d, const void* a_data, const void* b_data,
                void* x_data) {
  if (SolveByLibrary<T>(ctx, d, a_data, b_data, x_data)) return;
  bool transposed = d.transpose != HLOKIT_NO_TRANSPOSE;
  const bool conjugated = d.transpose == HLOKIT_ADJOINT;
  const int64_t size = d.left_side ? d.m : d.n, cols = d.left_side ? d.n : d.m;
  if (!d.left_side) {  // x op(a) = b is op(a)^T x^T = b^T
    transposed = !transposed;
    std::swap(d.b.row_stride, d.b.col_stride);
    std::swap(d.x.row_stride, d.x.col_stride);
  }
  if (transposed) std::swap(d.a.row_stride, d.a.col_stride);
  const bool lower = (d.lower != 0) != transposed;
  ParallelFor(ctx, d.batch, BatchGrain(size * size * cols), [&](int64_t begin, int64_t end) {
    Scratch scratch((size * size + size * cols) * sizeof(T));
    if (scratch.data() == nullptr)
      return hlokit_set_error(ctx, "out of memory in a triangular solve");
    T* t = scratch.as<T>();
    T* x = t + size * size;
    for (int64_t batch = begin; batch < end; ++batch) {
      const T* a = static_cast<const T*>(a_data) + batch * size * size;
      const T* b = static_cast<const T*>(b_data) + batch * size * cols;
      T* to = static_cast<T*>(x_data) + batch * size * cols;
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = lower ? 0 : i; j < (lower ? i + 1 : size); ++j) {
          const T value = a[i * d.a.row_stride + j * d.a.col_stride];
          t[i * size + j] = conjugated ? Conj(value) : value;
        }
        for (int64_t c = 0; c < cols; ++c)
          x[i * cols + c] = b[i * d.b.row_stride + c * d.b.col_stride];
      }
      Substitution<T>(ctx, lower, d.unit_diagonal != 0, size, cols, t, x).Run();
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t c = 0; c < cols; ++c)
          to[i * d.x.row_stride + c * d.x.col_stride] = x[i * cols + c];
      }
    }
  });
}

void ReportType(void* ctx, int64_t type) {
  SetKernelError(ctx, "element type %d in a factorization", static_cast<int>(type));
}

}  // namespace
}  // namespace hlokit

extern "C" {

void hlokit_cholesky(void* ctx, const HlokitCholeskyDesc* desc, const void* from, void* to,
                     int32_t* info) {
  switch (desc->type) {
    case HLOKIT_F32:
      return hlokit::CholeskyBatch<float>(ctx, *desc, from, to, info);
    case HLOKIT_F64:
      return hlokit::CholeskyBatch<double>(ctx, *desc, from, to, info);
    case HLOKIT_C64:
      return hlokit::CholeskyBatch<std::complex<float>>(ctx, *desc, from, to, info);
    case HLOKIT_C128:
      return hlokit::CholeskyBatch<std::complex<double>>(ctx, *desc, from, to, info);
    default:
      hlokit::ReportType(ctx, desc->type);
  }
}

void hlokit_triangular_solve(void* ctx, const HlokitTriangularSolveDesc* desc, const void* a,
                             const void* b, void* x) {
  switch (desc->type) {
    case HLOKIT_F32:
      return hlokit::SolveBatch<float>(ctx, *desc, a, b, x);
    case HLOKIT_F64:
      return hlokit::SolveBatch<double>(ctx, *desc, a, b, x);
    case HLOKIT_C64:
      return hlokit::SolveBatch<std::complex<float>>(ctx, *desc, a, b, x);
    case HLOKIT_C128:
      return hlokit::SolveBatch<std::complex<double>>(ctx, *desc, a, b, x);
    default:
      hlokit::ReportType(ctx, desc->type);
  }
}

void hlokit_pivots_to_permutation(void* /*ctx*/, const HlokitPivotsDesc* desc,
                                  const int32_t* pivots, int32_t* permutation) {
  for (int64_t b = 0; b < desc->batch; ++b, pivots += desc->pivots, permutation += desc->rows) {
    std::iota(permutation, permutation + desc->rows, 0);
    for (int64_t i = 0; i < std::min(desc->pivots, desc->rows); ++i)
      if (pivots[i] >= 0 && pivots[i] < desc->rows)
        std::swap(permutation[i], permutation[pivots[i]]);
  }
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
