// Products of floats as tensor cores sum them: measured on an H200 (scripts/gpu/ptx_hardware.py),
// bit for bit.
//
// All products of a step along k, and the accumulator, are exact. They are shifted to the largest
// exponent among them and cut off `fraction` bits below it; the sum of what is left is exact, and
// is rounded to f32 towards zero, to f16 to nearest. The exponent of a product is the sum of its
// factors' exponents, whether or not their mantissas carry.
//
//   fraction 2, 1.0 * 1.75 + 1.0 * 0.125 + c = 0.125: exponents 0, -3, -3; units of 1/4:
//   1.75 -> 7, 0.125 -> 0, 0.125 -> 0; the result is 1.75, not 2
//
// f16, bf16 and tf32: 25 bits, one step for all of k (wmma's tf32: four at a time). wgmma's bytes
// (e4m3, e5m2): 13 bits, and of an f32 result 13 bits of fraction are kept. mma's bytes have no
// unit of their own on sm_90: they become f16, the first two of each four go in one step and the
// others in the next, from zero on, and the accumulator is added afterwards, to nearest. Cost: two
// passes over m * n * k products, in vectors of n. The common forms take
// product_kernels_internal.h, which gives the same bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "ptxsim/matrix_internal.h"

namespace hlokit::ptx {
namespace {

constexpr int kZeroExponent = -(1 << 20);

int ExponentOf(double value, int least) {
  if (value == 0 || IsAbsent(value)) return kZeroExponent;
  const auto field = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff);
  return std::max(field - 1023, least);
}

struct Exponents {
  std::vector<int> values;
  bool is_finite = true;
};

Exponents ExponentsOf(const Matrix& matrix, Type type) {
  Exponents all;
  all.values.reserve(matrix.values.size());
  const int least = LeastExponent(type);
  for (const double value : matrix.values) {
    all.values.push_back(ExponentOf(value, least));
    all.is_finite &= all.values.back() < 1024;
  }
  return all;
}

double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

double TowardZero(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::fabs(static_cast<double>(nearest)) <= std::fabs(value)) return nearest;
  if (std::fabs(value) >= 0x1p128) return nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - 1);
}

double Stored(float sum, Type type) { return type == Type::kF16 ? F16Value(RoundToF16(sum)) : sum; }

// What the sum becomes in the accumulator's type.
double Rounded(double sum, Type type, int fraction) {
  if (type == Type::kF16) return F16Value(RoundToF16(sum));
  const double result = TowardZero(sum);
  if (fraction >= 23 || !std::isfinite(result)) return result;
  const uint32_t cut = (uint32_t{1} << (23 - fraction)) - 1;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(result)) & ~cut);
}

class TensorCore {
 public:
  TensorCore(const Matrix& a, const Matrix& b, const ProductRule& rule)
      : a_(a), b_(b), rule_(rule), ea_(ExponentsOf(a, rule.a)), eb_(ExponentsOf(b, rule.b)) {}

  // Columns of k that a step takes.
  bool Takes(int k, int step) const {
    switch (rule_.steps) {
      case ProductSteps::kFours:
        return k / 4 == step;
      case ProductSteps::kHalvesOf4:
        return k % 4 / 2 == step;
      case ProductSteps::kHalvesOf8:
        return k % 8 / 4 == step;
      default:
        return true;
    }
  }

  bool is_finite() const { return ea_.is_finite && eb_.is_finite; }

  // acc += the products of row r with all columns, of the ks that are in step `step`. An
  // accumulator that is infinite stays so. `least`: of the accumulator's exponents.
  void Step(int r, int step, int least, double* acc) {
    const int n = b_.cols;
    top_.resize(static_cast<size_t>(n));
    scale_.resize(static_cast<size_t>(n));
    sum_.resize(static_cast<size_t>(n));
    for (int j = 0; j < n; ++j) top_[j] = ExponentOf(acc[j], least);
    ForStep(step, [&](int k) {
      const int own = ea_.values[static_cast<size_t>(r) * a_.cols + k];
      const int* other = &eb_.values[static_cast<size_t>(k) * n];
#pragma GCC ivdep
      for (int j = 0; j < n; ++j) top_[j] = std::max(top_[j], own + other[j]);
    });
    for (int j = 0; j < n; ++j) {
      if (top_[j] < -2000 || top_[j] > 900) top_[j] = 0;  // nothing but zeros; infinite
      scale_[j] = PowerOfTwo(rule_.fraction - top_[j]);
      sum_[j] = std::isfinite(acc[j]) ? static_cast<int32_t>(acc[j] * scale_[j]) : 0;
    }
    ForStep(step, [&](int k) {
      const double x = a_.at(r, k);
      if (x == 0 || IsAbsent(x)) return;
      const double* other = &b_.values[static_cast<size_t>(k) * n];
#pragma GCC ivdep
      for (int j = 0; j < n; ++j)
        sum_[j] += static_cast<double>(static_cast<int32_t>(x * other[j] * scale_[j]));
    });
    for (int j = 0; j < n; ++j)
      if (std::isfinite(acc[j]))
        acc[j] = Rounded(sum_[j] * PowerOfTwo(top_[j] - rule_.fraction), rule_.d, rule_.fraction);
  }

 private:
  template <typename F>
  void ForStep(int step, F f) const {
    for (int k = 0; k < a_.cols; ++k)
      if (Takes(k, step)) f(k);
  }

  const Matrix &a_, &b_;
  const ProductRule& rule_;
  Exponents ea_, eb_;
  std::vector<int> top_;
  std::vector<double> scale_, sum_;
};

// Infinities and NaNs, which no alignment changes.
double PlainSum(const Matrix& a, const Matrix& b, int r, int j, double sum) {
  for (int k = 0; k < a.cols; ++k)
    if (!IsAbsent(a.at(r, k))) sum += a.at(r, k) * b.at(k, j);
  return sum;
}

// Whether element (r, j) of the product depends on finite numbers alone.
bool IsFinite(const Matrix& a, const Matrix& b, const Matrix& c, int r, int j) {
  for (int k = 0; k < a.cols; ++k) {
    const double x = a.at(r, k);
    if (!IsAbsent(x) && !(std::isfinite(x) && std::isfinite(b.at(k, j)))) return false;
  }
  return std::isfinite(c.at(r, j));
}

// Elements that depend on infinities or NaNs for themselves; the rest goes the common way.
void MultiplyMixed(const Matrix& a, const Matrix& b, Matrix& c, const ProductRule& rule) {
  Matrix finite_a = a, finite_b = b, common = c;
  for (double& value : finite_a.values)
    if (!std::isfinite(value) && !IsAbsent(value)) value = 0;
  for (double& value : finite_b.values) value = std::isfinite(value) ? value : 0;
  for (double& value : common.values) value = std::isfinite(value) ? value : 0;
  MultiplyFloats(finite_a, finite_b, common, rule);
  for (int r = 0; r < c.rows; ++r)
    for (int j = 0; j < c.cols; ++j)
      c.at(r, j) = IsFinite(a, b, c, r, j) ? common.at(r, j) : PlainSum(a, b, r, j, c.at(r, j));
}

bool AllFinite(const Matrix& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(),
                     [](double value) { return std::isfinite(value); });
}

// Fused multiply-adds of f32 from zero on.
void MultiplySingly(const Matrix& a, const Matrix& b, int r, std::vector<double>& acc) {
  for (int j = 0; j < b.cols; ++j) {
    float sum = 0;
    for (int k = 0; k < a.cols; ++k)
      sum = std::fma(static_cast<float>(a.at(r, k)), static_cast<float>(b.at(k, j)), sum);
    acc[static_cast<size_t>(j)] = sum;
  }
}

}  // namespace

int LeastExponent(Type type) {
  switch (type) {
    case Type::kF16:
    case Type::kE5M2:
      return -14;
    case Type::kE4M3:
      return -6;
    case Type::kE3M2:
      return -2;
    case Type::kE2M3:
    case Type::kE2M1:
      return 0;
    default:
      return -126;
  }
}

void MultiplyFloats(const Matrix& a, const Matrix& b, Matrix& c, const ProductRule& rule) {
  TensorCore core(a, b, rule);
  if (!core.is_finite() || !AllFinite(c)) return MultiplyMixed(a, b, c, rule);
  const int own = LeastExponent(rule.d), first = LeastExponent(rule.c);
  std::vector<double> acc(static_cast<size_t>(c.cols));
  for (int r = 0; r < c.rows; ++r) {
    double* const row = &c.at(r, 0);
    if (rule.steps == ProductSteps::kAll) {
      core.Step(r, 0, first, row);
      continue;
    }
    if (rule.steps == ProductSteps::kFours) {
      for (int step = 0; step < a.cols / 4; ++step) core.Step(r, step, first, row);
      continue;
    }
    std::fill(acc.begin(), acc.end(), 0.0);
    if (rule.steps == ProductSteps::kSingly) {
      MultiplySingly(a, b, r, acc);
    } else {
      core.Step(r, 0, own, acc.data());
      core.Step(r, 1, own, acc.data());
    }
    for (int j = 0; j < c.cols; ++j) row[j] = Stored(static_cast<float>(acc[j] + row[j]), rule.d);
  }
}

void Multiply(const Matrix& a, const Matrix& b, Matrix& c, const ProductRule& rule, bool saturate) {
  if (rule.d == Type::kF64) {
    const RoundingScope scope(rule.rounding);
    MultiplyMatrices(a, b, c, rule.d, saturate);
  } else if (IsFloat(rule.a)) {
    MultiplyFloats(a, b, c, rule);
  } else {
    MultiplyMatrices(a, b, c, rule.d, saturate);
  }
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
