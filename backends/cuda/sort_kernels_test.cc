// Sorts give what the interpreter gives: every type, size of row and dimension, several arrays,
// equal elements in their order, comparators of several arrays, results in their operands' place.
#include "backends/cuda/sort_kernels.h"

#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

std::string Sort(const std::string& type, const std::string& dims, int dimension,
                 const std::string& direction = "LT") {
  return absl::Substitute(R"(HloModule m
f { a = $0[] parameter(0) b = $0[] parameter(1) ROOT r = pred[] compare(a, b), direction=$3 }
ENTRY e {
  x = $0[$1] parameter(0)
  ROOT r = $0[$1] sort(x), dimensions={$2}, to_apply=f
})",
                          type, dims, dimension, direction);
}

void Check(const std::string& text) { CheckOnSimulator(text, 0); }

TEST(SortKernelsTest, Sizes) {
  for (const char* length : {"1", "2", "15", "16", "17", "32", "33", "64", "65", "1000", "5000"})
    Check(Sort("f32", length, 0));
}

TEST(SortKernelsTest, TypesAndDimensions) {
  for (const char* type : {"s8", "u16", "s32", "u64", "f64", "f16", "bf16", "pred"})
    Check(Sort(type, "7,100", 1, "GT"));
  Check(Sort("f32", "100,7", 0));
  Check(Sort("f32", "5,70,6", 1));
  Check(Sort("s32", "3,1,4", 1));
}

// The second array says where equal elements of the first come from.
TEST(SortKernelsTest, EqualElementsKeepTheirOrder) {
  Check(R"(HloModule m
f {
  a = s8[] parameter(0) b = s8[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
  c = s8[] parameter(4) d = s8[] parameter(5)
  ROOT r = pred[] compare(a, b), direction=GT
}
ENTRY e {
  x = s8[3,700] parameter(0)
  i = s32[3,700] iota(), iota_dimension=1
  ROOT r = (s8[3,700], s32[3,700], s8[3,700]) sort(x, i, x), dimensions={1}, to_apply=f
})");
}

TEST(SortKernelsTest, ComparatorsOfTwoArrays) {
  Check(R"(HloModule m
f {
  a = s8[] parameter(0) b = s8[] parameter(1) x = f32[] parameter(2) y = f32[] parameter(3)
  less = pred[] compare(a, b), direction=LT
  same = pred[] compare(a, b), direction=EQ
  more = pred[] compare(x, y), direction=GT, type=TOTALORDER
  then = pred[] and(same, more)
  ROOT r = pred[] or(less, then)
}
ENTRY e {
  x = s8[300] parameter(0)
  y = f32[300] parameter(1)
  ROOT r = (s8[300], f32[300]) sort(x, y), dimensions={0}, to_apply=f
})");
}

// Operands that are computed first lie where the results do.
TEST(SortKernelsTest, InPlace) {
  for (const char* length : {"2", "30", "40", "100", "200", "3000"})
    Check(absl::Substitute(R"(HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[$0] parameter(0)
  y = f32[$0] add(x, x)
  s = f32[$0] sort(y), dimensions={0}, to_apply=f
  ROOT r = f32[$0] negate(s)
})",
                           length));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
