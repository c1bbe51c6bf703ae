// topk of rows in one kernel gives what the interpreter gives.
#include "backends/cuda/topk_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

// Of few different numbers, so that most are equal to others.
std::string TopKOf(const std::string& type, int64_t rows, int64_t length, int64_t k, bool largest) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  p = $0[$1,$2] parameter(0)
  s = s32[$1,$2] convert(p)
  m = s32[] constant(15)
  ms = s32[$1,$2] broadcast(m), dimensions={}
  few = s32[$1,$2] and(s, ms)
  x = $0[$1,$2] convert(few)
  a = ($0[$1,$3], s32[$1,$3]) topk(x), k=$3, largest=$4
  b = ($0[$1,$3], s32[$1,$3]) topk(p), k=$3, largest=$4
  ROOT r = (($0[$1,$3], s32[$1,$3]), ($0[$1,$3], s32[$1,$3])) tuple(a, b)
})",
                          type, rows, length, k, largest ? "true" : "false");
}

TEST(TopKKernelsTest, TypesAndLengths) {
  for (const char* type : {"f32", "bf16", "f16", "s32", "u32", "s16", "u8", "s8"})
    for (const bool largest : {true, false}) CheckOnSimulator(TopKOf(type, 3, 77, 5, largest), 0);
  for (const int64_t length : {33, 64, 1024, 1025, 2000, 4096})
    CheckOnSimulator(TopKOf("f32", 2, length, length < 64 ? 16 : 3, true), 0);
  CheckOnSimulator(TopKOf("s32", 11, 40, 1, true), 0);
}

// Zeros of both signs, infinities and NaNs in total order.
TEST(TopKKernelsTest, SpecialNumbers) {
  std::string numbers = "nan, -0, 0, inf, -inf, -nan, 1, -1";
  for (int i = 0; i < 32; ++i) absl::StrAppend(&numbers, i % 2 != 0 ? ", 0" : ", -0");
  for (const char* largest : {"true", "false"})
    CheckOnSimulator(absl::Substitute(R"(HloModule m
ENTRY e {
  c = f32[40] constant({$0})
  zero = f32[] constant(0)
  p = f32[40] parameter(0)
  zeros = f32[40] broadcast(zero), dimensions={}
  no = pred[40] compare(p, p), direction=NE
  x = f32[40] select(no, zeros, c)
  ROOT r = (f32[12], s32[12]) topk(x), k=12, largest=$1
})",
                                      numbers, largest),
                     0);
}

TEST(TopKKernelsTest, OneKernel) {
  const std::string ptx = PtxForTest(R"(HloModule m
ENTRY e {
  x = f32[8,2048] parameter(0)
  ROOT r = (f32[8,4], s32[8,4]) topk(x), k=4, largest=true
})");
  EXPECT_EQ(ptx.find(".entry"), ptx.rfind(".entry"));
  EXPECT_THAT(ptx, testing::HasSubstr("max.u64"));
}

// Longer rows, and more of them, are sorted.
TEST(TopKKernelsTest, OthersAreSorted) {
  CheckOnSimulator(TopKOf("f32", 2, 5000, 3, true), 0);
  CheckOnSimulator(TopKOf("f32", 2, 100, 40, true), 0);
  CheckOnSimulator(TopKOf("s32", 2, 20, 3, false), 0);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
