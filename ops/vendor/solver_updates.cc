// Solvers' calls that LAPACK has no routine for: a rank-1 update of a Cholesky factor, a symmetric
// product, a tridiagonal solve that perturbs pivots near zero.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool IsReal(ElementType type) { return type == ElementType::kF32 || type == ElementType::kF64; }

// The upper factor of r'r + z z', by a Givens rotation for each row.
template <typename T>
void RotateIn(int64_t n, T* r, T* z) {
  for (int64_t k = 0; k < n; ++k) {
    const T hypotenuse = std::hypot(r[k * n + k], z[k]);
    const T c = z[k] == 0 ? T(1) : r[k * n + k] / hypotenuse;
    const T s = z[k] == 0 ? T(0) : -z[k] / hypotenuse;
    for (int64_t j = 0; j < n; ++j) {
      const T row = r[k * n + j], rest = z[j];
      r[k * n + j] = c * row - s * rest;
      z[j] = c * rest + s * row;
    }
  }
}

// c <- alpha a a' + beta c, or a' a.
template <typename T>
void AddSymmetric(const Literal& a, T alpha, T beta, bool transpose, Literal& c) {
  const int64_t rows = a.shape().dims[0], columns = a.shape().dims[1];
  const int64_t n = transpose ? columns : rows, depth = transpose ? rows : columns;
  const int64_t along = transpose ? columns : 1, across = transpose ? 1 : columns;
  const auto from = a.as<T>();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += from[i * across + k * along] * from[j * across + k * along];
      T& to = c.as<T>()[i * n + j];
      to = alpha * sum + beta * to;
    }
}

// One system of n unknowns: elimination with partial pivoting, which gives U two diagonals above
// its own.
template <typename T>
class Tridiagonal {
 public:
  // Diagonals in the manner of jax: lower[0] and upper[n - 1] stand outside.
  Tridiagonal(int64_t n, const T* lower, const T* diagonal, const T* upper)
      : n_(n), lower_(lower, lower + n), u_(diagonal, diagonal + n), u1_(upper, upper + n), u2_(n) {
    if (n > 0) u1_[n - 1] = 0;
  }

  // Solves for the columns of x [n, k] in place.
  void Solve(int64_t k, T* x) {
    for (int64_t i = 0; i + 1 < n_; ++i) Eliminate(i, k, x);
    PerturbPivots();
    for (int64_t i = n_ - 1; i >= 0; --i)
      for (int64_t j = 0; j < k; ++j) {
        T value = x[i * k + j];
        if (i + 1 < n_) value -= u1_[i] * x[(i + 1) * k + j];
        if (i + 2 < n_) value -= u2_[i] * x[(i + 2) * k + j];
        x[i * k + j] = value / u_[i];
      }
  }

 private:
  void Eliminate(int64_t i, int64_t k, T* x) {
    if (std::abs(lower_[i + 1]) > std::abs(u_[i])) {
      std::swap(u_[i], lower_[i + 1]);
      std::swap(u1_[i], u_[i + 1]);
      std::swap(u2_[i], u1_[i + 1]);
      for (int64_t j = 0; j < k; ++j) std::swap(x[i * k + j], x[(i + 1) * k + j]);
    }
    const T factor = lower_[i + 1] == 0 ? T(0) : lower_[i + 1] / u_[i];
    u_[i + 1] -= factor * u1_[i];
    u1_[i + 1] -= factor * u2_[i];
    for (int64_t j = 0; j < k; ++j) x[(i + 1) * k + j] -= factor * x[i * k + j];
  }

  // Pivots that cannot be divided by become the machine's precision times the largest element of U,
  // of which jaxlib looks at all rows but the last but one.
  void PerturbPivots() {
    T largest = n_ > 0 ? std::abs(u_[n_ - 1]) : T(0);
    for (int64_t i = 0; i < std::max<int64_t>(n_ - 2, n_ == 2); ++i)
      largest = std::max({largest, std::abs(u_[i]), std::abs(u1_[i]), std::abs(u2_[i])});
    constexpr T kLeast = std::numeric_limits<T>::min();
    const T tiny = std::max(std::numeric_limits<T>::epsilon() * largest, kLeast);
    for (T& pivot : u_)
      if (std::abs(pivot) < kLeast) pivot = std::signbit(pivot) ? -tiny : tiny;
  }

  const int64_t n_;
  std::vector<T> lower_, u_, u1_, u2_;
};

template <typename T>
Literal SolveAll(const EvalContext& context) {
  Literal x = *context.operands[3];
  const DimVector& dims = x.shape().dims;
  const int64_t n = dims[dims.size() - 2], k = dims.back();
  for (int64_t b = 0; n > 0 && b < context.operands[1]->element_count() / n; ++b) {
    const auto diagonal = [&](int which) { return context.operands[which]->as<T>() + b * n; };
    Tridiagonal<T>(n, diagonal(0), diagonal(1), diagonal(2)).Solve(k, x.as<T>() + b * n * k);
  }
  return x;
}

}  // namespace

absl::StatusOr<Literal> CholeskyUpdate(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  const bool two = context.operands.size() == 2 && context.operands[0]->shape().rank() == 2 &&
                   IsReal(context.operands[0]->type());
  const int64_t n = two ? context.operands[0]->shape().dims[0] : 0;
  const Shape factor = two ? Shape::Array(context.operands[0]->type(), {n, n}) : shape;
  const Shape vector = two ? Shape::Array(factor.type, {n}) : shape;
  if (!two || !Compatible(context.operands[0]->shape(), factor) ||
      !Compatible(context.operands[1]->shape(), vector) ||
      !Compatible(shape, Shape::Tuple({factor, vector})))
    return InvalidArgument("custom-call cholesky_update gives ", Text(shape));
  std::vector<Literal> parts = {*context.operands[0], *context.operands[1]};
  if (factor.type == ElementType::kF32)
    RotateIn(n, parts[0].as<float>(), parts[1].as<float>());
  else
    RotateIn(n, parts[0].as<double>(), parts[1].as<double>());
  return Literal::Tuple(std::move(parts));
}

absl::StatusOr<Literal> SymmetricProduct(const EvalContext& context) {
  const auto& o = context.operands;
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const bool transpose = config.NumberOr("transpose", 0) != 0;
  bool fits = o.size() == 4 && o[0]->shape().rank() == 2 && IsReal(o[0]->type());
  if (fits) {
    const int64_t n = o[0]->shape().dims[transpose ? 1 : 0];
    const Shape square = Shape::Array(o[0]->type(), {n, n});
    const Shape scalar = Shape::Array(o[0]->type(), {});
    fits = Compatible(o[1]->shape(), square) && Compatible(context.instruction.shape(), square) &&
           Compatible(o[2]->shape(), scalar) && Compatible(o[3]->shape(), scalar);
  }
  if (!fits)
    return InvalidArgument("custom-call syrk takes a matrix, a square one and two scalars");
  Literal c = *o[1];
  if (o[0]->type() == ElementType::kF32)
    AddSymmetric(*o[0], *o[2]->as<float>(), *o[3]->as<float>(), transpose, c);
  else
    AddSymmetric(*o[0], *o[2]->as<double>(), *o[3]->as<double>(), transpose, c);
  return c;
}

absl::StatusOr<Literal> SolvePerturbedTridiagonal(const EvalContext& context) {
  const auto& o = context.operands;
  bool fits = o.size() == 4 && o[3]->shape().rank() >= 2 && IsReal(o[3]->type());
  if (fits) {
    DimVector dims = o[3]->shape().dims;
    dims.pop_back();
    for (int i = 0; i < 3; ++i)
      fits = fits && Compatible(o[i]->shape(), Shape::Array(o[3]->type(), dims));
    fits = fits && Compatible(o[3]->shape(), context.instruction.shape());
  }
  if (!fits)
    return InvalidArgument("custom-call tridiagonal_solve_perturbed takes three diagonals and a ",
                           "matrix of floats");
  return o[3]->type() == ElementType::kF32 ? SolveAll<float>(context) : SolveAll<double>(context);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
