// Quotients beside true divisions: everything special, and values from everywhere.
#include "codegen/quotient.h"

#include <cmath>

#include <gtest/gtest.h>

#include "codegen/scalar_harness_internal.h"

namespace hlokit {
namespace {

ScalarValue Divide(llvm::IRBuilderBase& b, const ScalarValue& x, const ScalarValue& y) {
  return {EmitQuotient(b, x.re, PrepareDivisor(b, y.re))};
}

TEST(Quotient, IsWithinAnUlpOfTheDivision) {
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
  const Patterns got = RunLoop(T::kF32, T::kF32, T::kF32, Divide, x, y);
  for (size_t k = 0; k < got.size(); ++k) {
    const auto a = Cast<float>(static_cast<uint32_t>(x[k])),
               b = Cast<float>(static_cast<uint32_t>(y[k])),
               q = Cast<float>(static_cast<uint32_t>(got[k]));
    const float want = a / b;
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(q)) << a << " / " << b << " = " << q;
      continue;
    }
    const bool near = q == want || q == std::nextafter(want, HUGE_VALF) ||
                      q == std::nextafter(want, -HUGE_VALF);
    EXPECT_TRUE(near && std::signbit(q) == std::signbit(want))
        << a << " / " << b << " = " << q << ", not " << want;
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
