// Loops that finish the sums of rows run in their kernel, or in the second one where rows are
// split, and give what the interpreter gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

int64_t KernelsOf(const std::string& text) {
  const std::string ptx = PtxForTest(text);
  int64_t count = 0;
  for (size_t at = ptx.find(".entry"); at != std::string::npos; at = ptx.find(".entry", at + 1))
    ++count;
  return count;
}

// maximum(x * w + bias, 0) of one row x; `w` has the rows (or columns) that are summed.
std::string Layer(const std::string& type, int64_t terms, int64_t columns, bool by_rows) {
  return absl::Substitute(
      R"(HloModule m
ENTRY e {
  x = $0[1,$1] parameter(0)
  w = $0[$3] parameter(1)
  bias = $0[$2] parameter(2)
  d = $0[1,$2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={$4}
  biases = $0[1,$2] broadcast(bias), dimensions={1}
  sum = $0[1,$2] add(d, biases)
  zero = $0[] constant(0)
  zeros = $0[1,$2] broadcast(zero), dimensions={}
  ROOT r = $0[1,$2] maximum(sum, zeros)
})",
      type, terms, columns,
      by_rows ? absl::StrCat(columns, ",", terms) : absl::StrCat(terms, ",", columns),
      by_rows ? 1 : 0);
}

TEST(RowFinishSimulationTest, MatrixVectorProducts) {
  for (const char* type : {"f32", "bf16", "f16", "s32"})
    for (const bool by_rows : {true, false}) {
      const double error = std::string(type) == "f32" ? 1e-4 : 0.3;
      const std::string even = Layer(type, 512, 256, by_rows);
      CheckOnSimulator(even, error);
      EXPECT_EQ(KernelsOf(even), by_rows ? 1 : 2) << even;
      const std::string odd = Layer(type, 333, 301, by_rows);
      CheckOnSimulator(odd, error);
      EXPECT_EQ(KernelsOf(odd), by_rows ? 1 : 2) << odd;
    }
}

// The mean of all, and two results of each row.
TEST(RowFinishSimulationTest, SeveralResults) {
  const std::string text = R"(HloModule m
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
ENTRY e {
  a = f32[40,500] parameter(0)
  b = f32[40] parameter(1)
  zero = f32[] constant(0)
  s = f32[40] reduce(a, zero), dimensions={1}, to_apply=add
  t = f32[40] add(s, b)
  u = f32[40] negate(t)
  v = pred[40] compare(t, b), direction=LT
  all = f32[] reduce(a, zero), dimensions={0,1}, to_apply=add
  count = f32[] constant(20000)
  mean = f32[] divide(all, count)
  ROOT r = (f32[40], pred[40], f32[]) tuple(u, v, mean)
})";
  CheckOnSimulator(text, 1e-3);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
