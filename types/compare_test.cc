// Tolerances, special values and the report.
#include "types/compare.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

using T = ElementType;
constexpr double kInf = std::numeric_limits<double>::infinity();
const float kNan = std::nanf("");

TEST(Compare, OneElement) {
  struct Case {
    T type;
    double expected, actual;
    CompareOptions options;
    bool equal;
  };
  for (const Case& c : {Case{T::kF32, 1, 1, {}, true},
                        {T::kF32, 0, -0.0, {}, true},
                        {T::kF32, kNan, kNan, {}, true},
                        {T::kF32, kNan, 1, {1e9, 1e9, 1 << 30}, false},
                        {T::kF32, 1, kNan, {1e9, 1e9, 1 << 30}, false},
                        {T::kF32, kInf, kInf, {}, true},
                        {T::kF32, kInf, -kInf, {kInf, kInf, INT64_MAX}, false},
                        {T::kF32, kInf, 3.4e38, {1e9, 1e9, 1}, false},
                        {T::kF64, 100, 101, {}, false},
                        {T::kF64, 100, 101, {1, 0, 0}, true},
                        {T::kF64, 100, 101.5, {1, 0, 0}, false},
                        {T::kF64, 100, 101, {0, 0.01, 0}, true},
                        {T::kF64, 100, 101, {0, 0.009, 0}, false},
                        {T::kF64, 0, 1e-30, {0, 0.5, 0}, false},
                        {T::kF16, 1, 1.0009765625, {0, 0, 1}, true},
                        {T::kF16, 1, 1.001953125, {0, 0, 1}, false},
                        {T::kBF16, 1, 1.0078125, {0, 0, 1}, true},
                        {T::kF8E4M3FNUZ, kNan, 1, {9, 9, 9}, false},
                        {T::kF8E8M0FNU, 1, 2, {0, 0, 1}, true},
                        {T::kF32, 1e-45, -1e-45, {0, 0, 2}, true},
                        {T::kF32, 1e-45, -1e-45, {0, 0, 1}, false},
                        {T::kS32, 5, 6, {10, 10, 10}, false},
                        {T::kU64, 5, 5, {}, true},
                        {T::kPred, 1, 0, {1, 1, 1}, false}}) {
    Literal expected(Shape::Scalar(c.type)), actual(Shape::Scalar(c.type));
    if (IsFloat(c.type)) {
      expected.SetDouble(0, c.expected), actual.SetDouble(0, c.actual);
    } else {
      expected.SetInt(0, c.expected), actual.SetInt(0, c.actual);
    }
    EXPECT_EQ(Compare(expected, actual, c.options).equal, c.equal)
        << Text(c.type) << " " << c.expected << " " << c.actual;
  }
}

TEST(Compare, ReportNamesTheWorst) {
  const Literal expected =
      Literal::Tuple({Literal::R1<int32_t>({1, 2}), Literal::R1<float>({1, 2, 4, 8})});
  Literal actual = expected;
  EXPECT_TRUE(Compare(expected, actual).equal);
  EXPECT_EQ(Compare(expected, actual).Report(), "");
  EXPECT_EQ(
      Compare(expected, actual).Report(true),
      "result {0} s32[2]: 0 of 2 elements differ\nresult {1} f32[4]: 0 of 4 elements differ\n");
  actual.at({1}).SetDouble(1, 2.5);
  actual.at({1}).SetDouble(3, 9);
  const CompareResult result = Compare(expected, actual);
  EXPECT_FALSE(result.equal);
  ASSERT_EQ(result.leaves.size(), 2u);
  EXPECT_EQ(result.leaves[1].worst[0].index, (DimVector{1}));
  EXPECT_EQ(result.leaves[1].max_abs, 1);
  EXPECT_EQ(result.Report(),
            "result {1} f32[4]: 2 of 4 elements differ; max abs 1, rel 0.25, ulp 2097152; worst at "
            "[1]: expected 2, got 2.5\n"
            "  then at [3]: expected 8, got 9 (rel 0.125, ulp 1048576)\n"
            "  relative errors: 0: 2, to 1e-07: 0, to 1e-06: 0, to 1e-05: 0, to 0.0001: 0, to "
            "0.001: 0, to 0.01: 0, to 0.1: 0, more: 2\n");
  actual.at({1}).SetDouble(0, kNan);
  EXPECT_EQ(Compare(expected, actual).leaves[1].nan_mismatches, 1);
  EXPECT_EQ(Compare(expected, actual).leaves[1].worst[0].actual, "nan");
}

TEST(Compare, NanInBothIsCountedAndAgrees) {
  const Literal expected = Literal::R1<float>({kNan, 1, kNan}),
                actual = Literal::R1<float>({kNan, 1, 2});
  const CompareResult result = Compare(expected, actual);
  EXPECT_EQ(result.leaves[0].mismatches, 1);
  EXPECT_EQ(result.leaves[0].nan_matches, 1);
  EXPECT_EQ(result.Compared(), 3);
  EXPECT_EQ(result.NanMatches(), 1);
  EXPECT_NE(result.Report().find("1 of them in being NaN, 1 are NaN in both"), std::string::npos)
      << result.Report();
  EXPECT_EQ(Compare(expected, expected).NanMatches(), 2);
}

TEST(Compare, TheWorstFewAreKeptInOrder) {
  Literal expected(Shape::Array(T::kF64, {3, 4})), actual(Shape::Array(T::kF64, {3, 4}));
  for (int i = 0; i < 12; ++i) expected.SetDouble(i, 1), actual.SetDouble(i, 1 + 0.1 * i);
  const CompareResult result = Compare(expected, actual, {.abs_error = 0.85});
  ASSERT_EQ(result.leaves[0].worst.size(), kMaxWorst);
  EXPECT_EQ(result.leaves[0].worst[0].index, (DimVector{2, 3}));
  EXPECT_EQ(result.leaves[0].worst[4].index, (DimVector{1, 3}));
  EXPECT_FALSE(result.leaves[0].worst[2].agrees);
  EXPECT_TRUE(result.leaves[0].worst[3].agrees);
}

// A mismatch is named before a larger error that a tolerance allows.
TEST(Compare, WorstIsAMismatch) {
  const Literal expected = Literal::R1<double>({1e-9, 100}),
                actual = Literal::R1<double>({2e-9, 101});
  const CompareResult result = Compare(expected, actual, {.abs_error = 0.5});
  EXPECT_EQ(result.leaves[0].worst[0].index, (DimVector{1}));
  EXPECT_EQ(result.leaves[0].mismatches, 1);
}

TEST(Compare, ComplexAndShapes) {
  using C = std::complex<float>;
  const Literal a = Literal::R1<C>({{1, 2}, {3, 4}}), b = Literal::R1<C>({{1, 2}, {3, 4.5}});
  const CompareResult result = Compare(a, b);
  EXPECT_EQ(result.leaves[0].mismatches, 1);
  EXPECT_EQ(result.leaves[0].worst[0].expected, "(3, 4)");
  EXPECT_TRUE(Compare(a, b, {.rel_error = 0.2}).equal);
  EXPECT_EQ(Compare(a, Literal::R0(1.0f)).Report(), "shape f32[], expected c64[2]\n");
  Shape bounded = Shape::Array(T::kS32, {3});
  bounded.SetDynamic(0, true);
  Literal x(bounded), y(bounded);
  x.set_dynamic_size(0, 2), y.set_dynamic_size(0, 2);
  y.SetInt(2, 7);  // past the end
  EXPECT_TRUE(Compare(x, y).equal);
  y.set_dynamic_size(0, 3);
  EXPECT_EQ(Compare(x, y).Report(), "result: dimension 0 has run-time size 3, expected 2\n");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
