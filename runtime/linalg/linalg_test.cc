// Factorizations and solves are multiplied back.
#include "runtime/linalg/linalg.h"

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/linalg/lapack.h"

namespace hlokit {
namespace {

template <typename T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr int64_t kType = HLOKIT_F32;
  using Real = float;
};
template <>
struct TypeOf<double> {
  static constexpr int64_t kType = HLOKIT_F64;
  using Real = double;
};
template <>
struct TypeOf<std::complex<float>> {
  static constexpr int64_t kType = HLOKIT_C64;
  using Real = float;
};
template <>
struct TypeOf<std::complex<double>> {
  static constexpr int64_t kType = HLOKIT_C128;
  using Real = double;
};
template <typename T>
constexpr bool kComplex = !std::is_floating_point_v<T>;

template <typename T>
T Conj(T x) {
  if constexpr (kComplex<T>)
    return std::conj(x);
  else
    return x;
}

// A column-major matrix.
template <typename T>
struct Matrix {
  int64_t rows, cols;
  std::vector<T> data;

  Matrix(int64_t rows, int64_t cols) : rows(rows), cols(cols), data(rows * cols) {}
  T& operator()(int64_t i, int64_t j) { return data[j * rows + i]; }
  T operator()(int64_t i, int64_t j) const { return data[j * rows + i]; }

  static Matrix Random(int64_t rows, int64_t cols, unsigned seed) {
    Matrix m(rows, cols);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (T& x : m.data) {
      if constexpr (kComplex<T>)
        x = T(normal(random), normal(random));
      else
        x = normal(random);
    }
    return m;
  }
  Matrix Adjoint() const {
    Matrix m(cols, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) m(j, i) = Conj((*this)(i, j));
    return m;
  }
  Matrix Part(int64_t part_rows, int64_t part_cols) const {
    Matrix m(part_rows, part_cols);
    for (int64_t i = 0; i < part_rows; ++i)
      for (int64_t j = 0; j < part_cols; ++j) m(i, j) = (*this)(i, j);
    return m;
  }
  // Keeps the elements for which keep(i, j).
  template <typename Keep>
  Matrix Where(const Keep& keep) const {
    Matrix m = *this;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        if (!keep(i, j)) m(i, j) = T(0);
    return m;
  }
  friend Matrix operator*(const Matrix& a, const Matrix& b) {
    Matrix m(a.rows, b.cols);
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < b.cols; ++j)
        for (int64_t k = 0; k < a.cols; ++k) m(i, j) += a(i, k) * b(k, j);
    return m;
  }
};

template <typename T>
void ExpectNear(const Matrix<T>& a, const Matrix<T>& b, const char* what) {
  ASSERT_EQ(a.data.size(), b.data.size());
  double error = 0, size = 1e-30;
  for (size_t i = 0; i < a.data.size(); ++i) {
    error = std::max<double>(error, std::abs(a.data[i] - b.data[i]));
    size = std::max<double>(size, std::abs(b.data[i]));
  }
  EXPECT_LT(error / size, (sizeof(typename TypeOf<T>::Real) == 4 ? 1e-5 : 1e-13) * (a.rows + 10))
      << what;
}

template <typename T>
class LinalgTest : public testing::Test {
 protected:
  using Real = typename TypeOf<T>::Real;
  HlokitRunContext ctx = {};
  void TearDown() override { EXPECT_EQ(ctx.failed, 0) << ctx.error; }

  HlokitLapackDesc Desc(HlokitLapackFunction function, int64_t m, int64_t n) {
    HlokitLapackDesc d = {};
    d.function = function, d.type = TypeOf<T>::kType, d.batch = 1, d.m = m, d.n = n;
    return d;
  }
  void Run(const HlokitLapackDesc& d, std::vector<const void*> operands,
           std::vector<void*> results) {
    hlokit_lapack(&ctx, &d, operands.data(), results.data());
  }
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LinalgTest, Types);

TYPED_TEST(LinalgTest, Cholesky) {
  using T = TypeParam;
  for (int64_t n : {1, 4, 47, 48, 130}) {
    const Matrix<T> root = Matrix<T>::Random(n, n, 3);
    Matrix<T> a = root * root.Adjoint();
    for (int64_t i = 0; i < n; ++i) a(i, i) += T(n);
    for (int64_t lower : {0, 1}) {
      Matrix<T> l(n, n);
      const HlokitCholeskyDesc d = {TypeOf<T>::kType, 1, n, lower, {1, n}, {1, n}};
      hlokit_cholesky(&this->ctx, &d, a.data.data(), l.data.data(), nullptr);
      ExpectNear(lower ? l * l.Adjoint() : l.Adjoint() * l, a, "product");
      const Matrix<T> triangle =
          l.Where([&](int64_t i, int64_t j) { return lower ? i >= j : i <= j; });
      EXPECT_EQ(l.data, triangle.data);
      // Row-major to row-major, in place.
      const HlokitCholeskyDesc rows = {TypeOf<T>::kType, 1, n, lower, {n, 1}, {n, 1}};
      Matrix<T> turned(n, n), same(n, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) turned(j, i) = a(i, j);
      hlokit_cholesky(&this->ctx, &rows, turned.data.data(), turned.data.data(), nullptr);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) same(i, j) = turned(j, i);
      ExpectNear(same, l, "by rows");
      EXPECT_EQ(same.data,
                same.Where([&](int64_t i, int64_t j) { return lower ? i >= j : i <= j; }).data);
    }
  }
}

TYPED_TEST(LinalgTest, CholeskyOfIndefiniteMatrix) {
  using T = TypeParam;
  const std::vector<T> a = {4,      0, 0, 2, -3, 0, 2, 1, 5,
                            /**/ 1, 0, 0, 0, 1,  0, 0, 0, 1};  // row-major, two matrices
  std::vector<T> l(18);
  const HlokitCholeskyDesc d = {TypeOf<T>::kType, 2, 3, 1, {3, 1}, {3, 1}};
  hlokit_cholesky(&this->ctx, &d, a.data(), l.data(), nullptr);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(std::real(l[i])));
  EXPECT_EQ(l[9], T(1));
  int32_t info[2] = {-1, -1};
  hlokit_cholesky(&this->ctx, &d, a.data(), l.data(), info);
  EXPECT_EQ(info[0], 2);
  EXPECT_EQ(info[1], 0);
}

TYPED_TEST(LinalgTest, CholeskyMeetsNan) {
  using T = TypeParam;
  const int64_t n = 40;
  std::vector<T> a(n * n), l(n * n);
  for (int64_t i = 0; i < n; ++i) a[i * n + i] = T(1);
  a[30 * n + 7] = T(NAN);  // by rows, in the lower triangle
  const HlokitCholeskyDesc d = {TypeOf<T>::kType, 1, n, 1, {n, 1}, {n, 1}};
  hlokit_cholesky(&this->ctx, &d, a.data(), l.data(), nullptr);
  for (const T& x : l) ASSERT_TRUE(std::isnan(std::real(x)));
  int32_t info = -1;
  hlokit_cholesky(&this->ctx, &d, a.data(), l.data(), &info);
  EXPECT_EQ(info, 31);
}

// By columns or by rows, many systems, two of them in a batch.
TYPED_TEST(LinalgTest, TriangularSolveTakesAnyLayout) {
  using T = TypeParam;
  const int64_t batch = 2, m = 33, n = 130;
  for (int variant = 0; variant < 96; ++variant) {
    const int64_t left = variant & 1, lower = variant >> 1 & 1, op = variant / 4 % 3;
    const bool a_rows = variant / 12 & 1, b_rows = variant / 24 & 1, x_rows = variant / 48 & 1;
    const int64_t order = left ? m : n;
    const auto layout = [](bool by_rows, int64_t rows, int64_t cols) {
      return by_rows ? HlokitMatrixLayout{cols, 1} : HlokitMatrixLayout{1, rows};
    };
    const HlokitTriangularSolveDesc d = {TypeOf<T>::kType,
                                         batch,
                                         m,
                                         n,
                                         left,
                                         lower,
                                         0,
                                         op,
                                         layout(a_rows, order, order),
                                         layout(b_rows, m, n),
                                         layout(x_rows, m, n)};
    Matrix<T> a = Matrix<T>::Random(order, order * batch, 1),
              b = Matrix<T>::Random(m, n * batch, 2);
    for (T& x : a.data) x *= T(0.5 / std::sqrt(static_cast<double>(order)));
    for (int64_t i = 0; i < order * batch; ++i) a(i % order, i) += T(2);
    std::vector<T> x(b.data.size());
    hlokit_triangular_solve(&this->ctx, &d, a.data.data(), b.data.data(), x.data());
    const auto read = [](const std::vector<T>& from, int64_t which, int64_t rows, int64_t cols,
                         const HlokitMatrixLayout& at) {
      Matrix<T> part(rows, cols);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j)
          part(i, j) = from[which * rows * cols + i * at.row_stride + j * at.col_stride];
      return part;
    };
    for (int64_t which = 0; which < batch; ++which) {
      Matrix<T> t = read(a.data, which, order, order, d.a).Where([&](int64_t i, int64_t j) {
        return lower ? i >= j : i <= j;
      });
      if (op != HLOKIT_NO_TRANSPOSE) t = t.Adjoint();
      for (T& v : t.data) v = op == HLOKIT_TRANSPOSE ? Conj(v) : v;
      const Matrix<T> solved = read(x, which, m, n, d.x);
      ExpectNear(left ? t * solved : solved * t, read(b.data, which, m, n, d.b), "product");
    }
  }
}

TYPED_TEST(LinalgTest, TriangularSolve) {
  using T = TypeParam;
  for (const auto& [m, n] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {4, 3}, {60, 2}, {101, 7}, {3, 50}}) {
    for (int variant = 0; variant < 24; ++variant) {
      const int64_t left = variant & 1, lower = variant >> 1 & 1, unit = variant >> 2 & 1,
                    op = variant / 8;
      const int64_t order = left ? m : n;
      Matrix<T> a = Matrix<T>::Random(order, order, 1);
      for (T& x : a.data) x *= T(0.5 / std::sqrt(static_cast<double>(order)));
      for (int64_t i = 0; i < order; ++i) a(i, i) += T(2);
      const Matrix<T> b = Matrix<T>::Random(m, n, 2);
      Matrix<T> x = b;
      const HlokitTriangularSolveDesc d = {
          TypeOf<T>::kType, 1, m, n, left, lower, unit, op, {1, order}, {1, m}, {1, m}};
      hlokit_triangular_solve(&this->ctx, &d, a.data.data(), x.data.data(), x.data.data());
      Matrix<T> t = a.Where([&](int64_t i, int64_t j) { return lower ? i >= j : i <= j; });
      for (int64_t i = 0; unit && i < order; ++i) t(i, i) = T(1);
      if (op != HLOKIT_NO_TRANSPOSE) t = t.Adjoint();
      for (T& v : t.data) v = op == HLOKIT_TRANSPOSE ? Conj(v) : v;
      ExpectNear(left ? t * x : x * t, b, "product");
    }
  }
}

TYPED_TEST(LinalgTest, Getrf) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
           {4, 4}, {6, 3}, {3, 6}, {1, 1}, {16, 16}, {17, 5}, {20, 24}}) {
    const Matrix<T> a = Matrix<T>::Random(m, n, 5);
    Matrix<T> lu(m, n);
    std::vector<int32_t> pivots(std::min(m, n));
    int32_t info = -1;
    this->Run(this->Desc(HLOKIT_LAPACK_GETRF, m, n), {a.data.data()},
              {lu.data.data(), pivots.data(), &info});
    EXPECT_EQ(info, 0);
    const int64_t least = std::min(m, n);
    Matrix<T> l = lu.Part(m, least).Where([](int64_t i, int64_t j) { return i > j; });
    for (int64_t i = 0; i < least; ++i) l(i, i) = T(1);
    Matrix<T> product = l * lu.Part(least, n).Where([](int64_t i, int64_t j) { return i <= j; });
    for (int64_t i = least; i-- > 0;) {
      for (int64_t j = 0; j < n; ++j) std::swap(product(i, j), product(pivots[i] - 1, j));
    }
    ExpectNear(product, a, "lu");
  }
}

// The first pivot that is zero is told, and the rest is factored.
TYPED_TEST(LinalgTest, LuOfSingularMatrices) {
  using T = TypeParam;
  for (const int64_t n : {3, 20}) {  // here and by LAPACK
    Matrix<T> a = Matrix<T>::Random(n, n, 8);
    for (int64_t i = 0; i < n; ++i) a(i, 1) = T(0);
    Matrix<T> lu(n, n);
    std::vector<int32_t> pivots(n);
    int32_t info = -1;
    this->Run(this->Desc(HLOKIT_LAPACK_GETRF, n, n), {a.data.data()},
              {lu.data.data(), pivots.data(), &info});
    EXPECT_EQ(info, 2) << n;
    EXPECT_EQ(pivots[1], 2) << n;
    EXPECT_NE(lu(2, 2), T(0)) << n;
  }
}

TYPED_TEST(LinalgTest, QrByReflectors) {
  using T = TypeParam;
  const int64_t m = 7, n = 4;
  const Matrix<T> a = Matrix<T>::Random(m, n, 6);
  Matrix<T> qr(m, n), q(m, n), pivoted(m, n);
  std::vector<T> tau(n);
  this->Run(this->Desc(HLOKIT_LAPACK_GEQRF, m, n), {a.data.data()}, {qr.data.data(), tau.data()});
  HlokitLapackDesc d = this->Desc(HLOKIT_LAPACK_ORGQR, m, n);
  d.k = n;
  this->Run(d, {qr.data.data(), tau.data()}, {q.data.data()});
  const Matrix<T> r = qr.Part(n, n).Where([](int64_t i, int64_t j) { return i <= j; });
  ExpectNear(q * r, a, "q r");
  HlokitLapackDesc apply = this->Desc(HLOKIT_LAPACK_ORMQR, m, n);  // q^H a = r above zeros
  apply.k = n, apply.left = 1, apply.transpose = 1;
  Matrix<T> rotated(m, n);
  this->Run(apply, {qr.data.data(), tau.data(), a.data.data()}, {rotated.data.data()});
  ExpectNear(rotated.Part(n, n), r, "q^H a");
  const std::vector<int32_t> free_columns(n, 0);
  std::vector<int32_t> order(n);
  this->Run(this->Desc(HLOKIT_LAPACK_GEQP3, m, n), {a.data.data(), free_columns.data()},
            {pivoted.data.data(), order.data(), tau.data()});
  Matrix<T> permuted(m, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) permuted(i, j) = a(i, order[j] - 1);
  this->Run(d, {pivoted.data.data(), tau.data()}, {q.data.data()});
  ExpectNear(q * pivoted.Part(n, n).Where([](int64_t i, int64_t j) { return i <= j; }), permuted,
             "q r p");
}

TYPED_TEST(LinalgTest, SingularValues) {
  using T = TypeParam;
  using Real = typename TypeOf<T>::Real;
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{5, 5}, {7, 3}, {3, 7}}) {
    for (HlokitLapackFunction function : {HLOKIT_LAPACK_GESDD, HLOKIT_LAPACK_GESVD}) {
      for (int64_t mode : {'S', 'A', 'N'}) {
        const int64_t least = std::min(m, n), u_cols = mode == 'S' ? least : m,
                      vt_rows = mode == 'S' ? least : n;
        Matrix<T> a = Matrix<T>::Random(m, n, 7), work(m, n), u(m, u_cols), vt(vt_rows, n);
        std::vector<Real> s(least);
        int32_t info = -1;
        HlokitLapackDesc d = this->Desc(function, m, n);
        d.mode = mode;
        this->Run(d, {a.data.data()},
                  {work.data.data(), s.data(), u.data.data(), vt.data.data(), &info});
        EXPECT_EQ(info, 0);
        EXPECT_GE(s[0], s[least - 1]);
        if (mode == 'N') continue;
        Matrix<T> scaled = u.Part(m, least);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < least; ++j) scaled(i, j) *= s[j];
        ExpectNear(scaled * vt.Part(least, n), a, "u s vt");
        a(1, 1) = std::numeric_limits<Real>::quiet_NaN();
        this->Run(d, {a.data.data()},
                  {work.data.data(), s.data(), u.data.data(), vt.data.data(), &info});
        EXPECT_EQ(info, -4);
        EXPECT_TRUE(std::isnan(s[0]));
      }
    }
  }
}

TYPED_TEST(LinalgTest, EigenvaluesOfHermitianMatrix) {
  using T = TypeParam;
  using Real = typename TypeOf<T>::Real;
  const int64_t n = 6;
  const Matrix<T> root = Matrix<T>::Random(n, n, 8), a = root * root.Adjoint();
  for (int64_t uplo : {'L', 'U'}) {
    Matrix<T> vectors(n, n), reduced(n, n);
    std::vector<Real> w(n), diagonal(n), beside(n - 1);
    std::vector<T> tau(n - 1);
    int32_t info = -1;
    HlokitLapackDesc d = this->Desc(HLOKIT_LAPACK_SYEVD, n, n);
    d.mode = 'V', d.uplo = uplo;
    this->Run(d, {a.data.data()}, {vectors.data.data(), w.data(), &info});
    EXPECT_EQ(info, 0);
    Matrix<T> scaled = vectors;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) scaled(i, j) *= w[j];
    ExpectNear(scaled * vectors.Adjoint(), a, "v w v^H");
    d.function = HLOKIT_LAPACK_SYTRD;
    this->Run(d, {a.data.data()},
              {reduced.data.data(), diagonal.data(), beside.data(), tau.data(), &info});
    EXPECT_EQ(info, 0);
    Real trace = 0, sum = 0;
    for (int64_t i = 0; i < n; ++i) trace += diagonal[i], sum += w[i];
    EXPECT_NEAR(trace / sum, 1, 1e-5);
  }
}

TYPED_TEST(LinalgTest, EigenvaluesOfAnyMatrix) {
  using T = TypeParam;
  using Real = typename TypeOf<T>::Real;
  using Complex = std::complex<Real>;
  const int64_t n = 7;
  const Matrix<T> a = Matrix<T>::Random(n, n, 9);
  Matrix<Complex> wide(n, n), left(n, n), right(n, n);
  for (size_t i = 0; i < a.data.size(); ++i) wide.data[i] = a.data[i];
  std::vector<T> w(n), wi(n);
  int32_t info = -1, count = 0;
  HlokitLapackDesc d = this->Desc(HLOKIT_LAPACK_GEEV, n, n);
  d.mode = d.left_mode = 'V';
  if (kComplex<T>)
    this->Run(d, {a.data.data()}, {w.data(), left.data.data(), right.data.data(), &info});
  else
    this->Run(d, {a.data.data()},
              {w.data(), wi.data(), left.data.data(), right.data.data(), &info});
  EXPECT_EQ(info, 0);
  Matrix<Complex> scaled = right, left_scaled = left;
  for (int64_t j = 0; j < n; ++j) {
    const Complex value = kComplex<T> ? Complex(w[j]) : Complex(std::real(w[j]), std::real(wi[j]));
    for (int64_t i = 0; i < n; ++i) scaled(i, j) *= value, left_scaled(i, j) *= std::conj(value);
  }
  ExpectNear(wide * right, scaled, "a v");
  ExpectNear(wide.Adjoint() * left, left_scaled, "a^H u");

  Matrix<T> t(n, n), vs(n, n), hessenberg(n, n);
  HlokitLapackDesc schur = this->Desc(HLOKIT_LAPACK_GEES, n, n);
  schur.mode = 'V';
  if (kComplex<T>)
    this->Run(schur, {a.data.data()}, {t.data.data(), vs.data.data(), w.data(), &count, &info});
  else
    this->Run(schur, {a.data.data()},
              {t.data.data(), vs.data.data(), w.data(), wi.data(), &count, &info});
  EXPECT_EQ(info, 0);
  ExpectNear(vs * t * vs.Adjoint(), a, "schur");
  HlokitLapackDesc reduce = this->Desc(HLOKIT_LAPACK_GEHRD, n, n);
  reduce.low = 1, reduce.high = n;
  std::vector<T> tau(n - 1);
  this->Run(reduce, {a.data.data()}, {hessenberg.data.data(), tau.data(), &info});
  EXPECT_EQ(info, 0);
}

TYPED_TEST(LinalgTest, TridiagonalSolveOfBatches) {
  using T = TypeParam;
  const int64_t n = 6, columns = 2, batch = 3;
  Matrix<T> low = Matrix<T>::Random(n, batch, 1), high = Matrix<T>::Random(n, batch, 2);
  Matrix<T> middle(n, batch), b = Matrix<T>::Random(n, batch * columns, 3), x(n, batch * columns);
  for (T& v : middle.data) v = T(6);
  Matrix<T> dl(n, batch), dm(n, batch), du(n, batch);
  std::vector<int32_t> info(batch, -1);
  HlokitLapackDesc d = this->Desc(HLOKIT_LAPACK_GTSV, n, n);
  d.batch = batch, d.k = columns;
  this->Run(d, {low.data.data(), middle.data.data(), high.data.data(), b.data.data()},
            {dl.data.data(), dm.data.data(), du.data.data(), x.data.data(), info.data()});
  for (int64_t s = 0; s < batch; ++s) {
    EXPECT_EQ(info[s], 0);
    for (int64_t c = s * columns; c < (s + 1) * columns; ++c) {
      for (int64_t i = 0; i < n; ++i) {
        T sum = middle(i, s) * x(i, c);
        if (i > 0) sum += low(i, s) * x(i - 1, c);
        if (i + 1 < n) sum += high(i, s) * x(i + 1, c);
        EXPECT_LT(std::abs(sum - b(i, c)), 1e-5);
      }
    }
  }
}

TEST(LapackTest, FindsTargets) {
  int64_t function, type;
  ASSERT_TRUE(FindLapackTarget("lapack_cheevd_ffi", &function, &type));
  EXPECT_EQ(function, HLOKIT_LAPACK_SYEVD);
  EXPECT_EQ(type, HLOKIT_C64);
  for (const char* target :
       {"lapack_sgetrf", "lapack_xgetrf_ffi", "lapack_", "sgetrf_ffi", "lapack_sgetrf_ffi2"}) {
    EXPECT_FALSE(FindLapackTarget(target, &function, &type)) << target;
  }
}

TEST(LapackTest, CustomCallsOfOurOwnCode) {
  const std::vector<double> a = {4, 2, 0, 5}, b = {8, 9};  // column-major, lower
  std::vector<double> l(4), x(2);
  int32_t info = -1;
  HlokitRunContext ctx = {};
  HlokitLapackDesc d = {};
  d.function = HLOKIT_LAPACK_POTRF, d.type = HLOKIT_F64, d.batch = 1, d.n = 2, d.uplo = 'L';
  const void* from[] = {a.data()};
  void* to[] = {l.data(), &info};
  hlokit_lapack(&ctx, &d, from, to);
  EXPECT_EQ(l, (std::vector<double>{2, 1, 0, 2}));
  EXPECT_EQ(info, 0);
  d.function = HLOKIT_LAPACK_TRSM, d.m = 2, d.n = 1, d.side = 'L', d.trans = 'T', d.diag = 'N';
  const void* system[] = {l.data(), b.data()};
  void* solution[] = {x.data()};
  hlokit_lapack(&ctx, &d, system, solution);
  EXPECT_EQ(x, (std::vector<double>{1.75, 4.5}));
  d.type = HLOKIT_S32;
  hlokit_lapack(&ctx, &d, system, solution);
  EXPECT_EQ(ctx.failed, 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
