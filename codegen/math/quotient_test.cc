// Quotients beside true divisions: everything special, and values from everywhere.
#include "codegen/math/quotient.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include "codegen/scalars/harness_internal.h"

namespace hlokit {
namespace {

ScalarValue Divide(llvm::IRBuilderBase& b, const ScalarValue& x, const ScalarValue& y) {
  return {EmitQuotient(b, x.re, PrepareDivisor(b, y.re))};
}

ScalarValue DivideRoughly(llvm::IRBuilderBase& b, const ScalarValue& x, const ScalarValue& y) {
  return {EmitRoughQuotient(b, x.re, PrepareDivisor(b, y.re))};
}

// How many floats lie between two of one sign; many where the signs differ.
int64_t Between(float x, float y) {
  if (std::signbit(x) != std::signbit(y)) return INT64_MAX;
  return std::abs(static_cast<int64_t>(Cast<uint32_t>(x)) -
                  static_cast<int64_t>(Cast<uint32_t>(y)));
}

template <typename Function>
void ExpectQuotients(const Function& divide, int64_t ulps) {
  Patterns x, y;
  std::vector<double> values = ManyFloats();
  for (double special : {0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 0x1p-149, 0x1p-127, 0x1p127,
                         3.4e38, 1.0, -3.0, 0x1p64, 0x1p-64, 0x1p-65})
    values.insert(values.begin(), special);
  const size_t count = values.size();
  for (size_t k = 0; k < count; ++k)
    for (size_t j : {k % 14, (k * 7 + 3) % count, (k * 131 + 17) % count}) {
      x.push_back(Cast<uint32_t>(static_cast<float>(values[k])));
      y.push_back(Cast<uint32_t>(static_cast<float>(values[j])));
    }
  const Patterns got = RunLoop(T::kF32, T::kF32, T::kF32, divide, x, y);
  for (size_t k = 0; k < got.size(); ++k) {
    const auto a = Cast<float>(static_cast<uint32_t>(x[k])),
               b = Cast<float>(static_cast<uint32_t>(y[k])),
               q = Cast<float>(static_cast<uint32_t>(got[k]));
    const float want = a / b;
    const bool near = std::isnan(want) ? std::isnan(q) : Between(q, want) <= ulps;
    EXPECT_TRUE(near) << a << " / " << b << " = " << q << ", not " << want;
  }
}

TEST(Quotient, IsWithinAnUlpOfTheDivision) { ExpectQuotients(Divide, 1); }

TEST(Quotient, RoughlyIsWithinTwoUlps) { ExpectQuotients(DivideRoughly, 2); }

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
