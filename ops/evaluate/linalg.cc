// Evaluates cholesky and triangular-solve, in double or complex<double>, rounded once at the end.
//
// Cholesky, column by column: l[j][j] = sqrt(a[j][j] - sum |l[j][k]|^2), l[i][j] from the same
// sums; a matrix that is not positive definite gives NaN throughout. The upper form is the lower
// one of the adjoint. A solve from the right is one of the transposed matrix from the left. n^3 / 3
// and n^2 multiply-adds a matrix and a right side.
#include <cmath>
#include <limits>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/linalg.h"
#include "ops/evaluate/values.h"
#include "support/status.h"

namespace hlokit {
namespace {

double Conj(double x) { return x; }
Complex Conj(Complex x) { return std::conj(x); }
double RealPart(double x) { return x; }
double RealPart(Complex x) { return x.real(); }

// Factors the lower triangle of a[n, n] in place (a = l l^H); false where it is not positive
// definite.
template <typename T>
bool FactorLower(T* a, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    double pivot = RealPart(a[j * n + j]);
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(a[j * n + k]);
    if (!(pivot > 0)) return false;
    const double root = std::sqrt(pivot);
    a[j * n + j] = root;
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= a[i * n + k] * Conj(a[j * n + k]);
      a[i * n + j] = sum / root;
    }
  }
  return true;
}

// Swaps the triangles of a[n, n], conjugating.
template <typename T>
void Adjoint(T* a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const T low = a[i * n + j];
      a[i * n + j] = Conj(a[j * n + i]);
      a[j * n + i] = Conj(low);
    }
  }
}

template <typename T>
Literal Cholesky(const Literal& operand, bool lower, const Shape& shape) {
  std::vector<T> a = WidenTo<T>(operand);
  const int64_t n = shape.dims.back();
  for (size_t start = 0; n > 0 && start < a.size(); start += n * n) {
    T* matrix = &a[start];
    if (!lower) Adjoint(matrix, n);
    const bool definite = FactorLower(matrix, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        if (!definite)
          matrix[i * n + j] = std::numeric_limits<double>::quiet_NaN();
        else if (j > i)
          matrix[i * n + j] = 0;
    if (!lower) Adjoint(matrix, n);
  }
  return NarrowFrom(shape, a);
}

// A triangle as the solver sees it: op(a) of the left side, and transposed once more for the right.
template <typename T>
struct Triangle {
  const T* a;
  int64_t n;
  bool lower, transposed, conjugated, unit_diagonal;

  T at(int64_t i, int64_t j) const {
    const T value = transposed ? a[j * n + i] : a[i * n + j];
    return conjugated ? Conj(value) : value;
  }
};

// Solves t x = b for one line of n values, `stride` apart, in place.
template <typename T>
void SolveLine(const Triangle<T>& t, T* b, int64_t stride) {
  for (int64_t step = 0; step < t.n; ++step) {
    const int64_t i = t.lower ? step : t.n - 1 - step;
    T sum = b[i * stride];
    for (int64_t k = 0; k < step; ++k) {
      const int64_t j = t.lower ? k : t.n - 1 - k;
      sum -= t.at(i, j) * b[j * stride];
    }
    b[i * stride] = t.unit_diagonal ? sum : sum / t.at(i, i);
  }
}

template <typename T>
Literal Solve(const Literal& a_literal, const Literal& b_literal, const TriangularSolveAttrs& attrs,
              const Shape& shape) {
  const std::vector<T> a = WidenTo<T>(a_literal);
  std::vector<T> b = WidenTo<T>(b_literal);
  const int64_t n = a_literal.shape().dims.back();
  const int64_t rows = shape.dims[shape.rank() - 2], columns = shape.dims.back();
  const bool flip = attrs.transpose_a == TriangularTranspose::kTranspose ||
                    attrs.transpose_a == TriangularTranspose::kAdjoint;
  // x op(a) = b is op(a)^T x^T = b^T.
  const bool transposed = flip != !attrs.left_side;
  const bool conjugated = attrs.transpose_a == TriangularTranspose::kAdjoint;
  for (int64_t i = 0; n > 0 && i * rows * columns < static_cast<int64_t>(b.size()); ++i) {
    const Triangle<T> t{&a[i * n * n], n,          attrs.lower != transposed,
                        transposed,    conjugated, attrs.unit_diagonal};
    T* matrix = &b[i * rows * columns];
    for (int64_t k = 0; k < (attrs.left_side ? columns : rows); ++k)
      attrs.left_side ? SolveLine(t, matrix + k, columns) : SolveLine(t, matrix + k * columns, 1);
  }
  return NarrowFrom(shape, b);
}

}  // namespace

Literal SolveTriangular(const Literal& a, const Literal& b, const TriangularSolveAttrs& attrs,
                        const Shape& shape) {
  return (IsComplex(shape.type) ? Solve<Complex> : Solve<double>)(a, b, attrs, shape);
}

absl::StatusOr<Literal> EvaluateCholesky(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  const bool lower = context.instruction.attr<CholeskyAttrs>().lower;
  const Shape& shape = context.instruction.shape();
  return IsComplex(shape.type) ? Cholesky<Complex>(operand, lower, shape)
                               : Cholesky<double>(operand, lower, shape);
}

absl::StatusOr<Literal> EvaluateTriangularSolve(const EvalContext& context) {
  return SolveTriangular(*context.operands[0], *context.operands[1],
                         context.instruction.attr<TriangularSolveAttrs>(),
                         context.instruction.shape());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
