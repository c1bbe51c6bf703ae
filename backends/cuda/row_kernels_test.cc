// Rows by groups of threads give what the interpreter gives: every type and operation that lanes
// combine, every size of group, rows that end within one; and softmax reads its row with a warp.
#include "backends/cuda/row_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

// A module whose result has an element a row of x, and which may have x's elements too.
std::string Reduction(const std::string& type, const std::string& op, int64_t rows, int64_t length,
                      const std::string& initial) {
  return absl::Substitute(R"(HloModule m
f { a = $0[] parameter(0) b = $0[] parameter(1) ROOT s = $0[] $1(a, b) }
ENTRY e {
  x = $0[$2,$3] parameter(0)
  c = $0[] constant($4)
  ROOT r = $0[$2] reduce(x, c), dimensions={1}, to_apply=f
})",
                          type, op, rows, length, initial);
}

TEST(GroupRowKernelsTest, SizesOfGroups) {
  for (const int64_t length : {1, 2, 7, 16, 17, 31, 32, 33, 100, 2047, 2048, 2300})
    for (const int64_t rows : {1, 3, 40})
      CheckOnSimulator(Reduction("f32", "add", rows, length, "1.5"), 1e-4);
}

TEST(GroupRowKernelsSimulationTest, TypesAndOperations) {
  for (const int64_t length : {50, 3000}) {
    for (const char* type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"})
      for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
        CheckOnSimulator(Reduction(type, op, 5, length, "3"), 0);
    for (const char* type : {"f16", "bf16", "f32", "f64"})
      for (const char* op : {"maximum", "minimum"})
        CheckOnSimulator(Reduction(type, op, 5, length, "-1"), 0);
    for (const char* type : {"f16", "bf16"})
      CheckOnSimulator(Reduction(type, "add", 5, length, "0"), 1e-2);
    for (const char* type : {"f64", "c64", "s4"})
      CheckOnSimulator(Reduction(type, "add", 5, length, type[0] == 'c' ? "(1, 2)" : "1"), 1e-4);
    for (const char* op : {"and", "or", "xor"})
      CheckOnSimulator(Reduction("pred", op, 5, length, "false"), 0);
  }
}

constexpr char kSoftmax[] = R"(HloModule m
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[$0] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[$1] reduce(x, low), dimensions={$2}, to_apply=max
  mb = f32[$0] broadcast(m), dimensions={$3}
  d = f32[$0] subtract(x, mb)
  y = f32[$0] exponential(d)
  s = f32[$1] reduce(y, zero), dimensions={$2}, to_apply=add
  sb = f32[$0] broadcast(s), dimensions={$3}
  q = f32[$0] divide(y, sb)
  ROOT r = (f32[$0], f32[$1]) tuple(q, s)
})";

TEST(GroupRowKernelsTest, WorkOnTheSameRow) {
  for (const char* shape : {"64,1000", "20,5", "3,2100", "33,18"}) {
    const std::string text(shape);
    const std::string rows = text.substr(0, text.find(',')), rest = text.substr(text.find(',') + 1);
    CheckOnSimulator(absl::Substitute(kSoftmax, text, rows, "1", "0"), 1e-5);
    CheckOnSimulator(absl::Substitute(kSoftmax, text, rest, "0", "1"), 1e-5);
  }
  CheckOnSimulator(absl::Substitute(kSoftmax, "4,6,5,7", "4,5", "1,3", "0,2"), 1e-5);
}

// Rows of several arrays stay in registers too: in those of a block, where a warp has too few.
TEST(GroupRowKernelsTest, RowsOfSeveralArrays) {
  for (const int64_t length : {600, 1500, 16384, 17000}) {
    std::string text = absl::Substitute(kSoftmax, absl::StrCat("3,", length), "3", "1", "0");
    absl::StrReplaceAll(
        {{"  m = ", absl::StrCat("  o = f32[3,", length, "] parameter(1)\n  t = f32[3,", length,
                                 "] multiply(x, o)\n  m = ")},
         {"subtract(x, mb)", "subtract(t, mb)"},
         {"reduce(x, low)", "reduce(t, low)"}},
        &text);
    CheckOnSimulator(text, 1e-5);
  }
}

// Whose only result is the softmax.
std::string Softmax(const std::string& rows, const std::string& columns) {
  const std::string shape = absl::StrCat(rows, ",", columns);
  return absl::StrReplaceAll(
      absl::Substitute(kSoftmax, shape, rows, "1", "0"),
      {{absl::Substitute("ROOT r = (f32[$0], f32[$1]) tuple(q, s)", shape, rows), ""},
       {"q =", "ROOT q ="}});
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Each element is read once, by loads of four.
TEST(GroupRowKernelsTest, RowsStayInRegisters) {
  const std::string warp = PtxForTest(Softmax("64", "1024"));
  EXPECT_EQ(Count(warp, "ld.global"), 8) << warp;
  EXPECT_EQ(Count(warp, "ld.global.nc.v4.f32"), 8) << warp;
  EXPECT_EQ(Count(warp, "st.global.v4.f32"), 8) << warp;
  const std::string block = PtxForTest(Softmax("4", "8192"));
  EXPECT_EQ(Count(block, "ld.global"), 8) << block;
}

TEST(GroupRowKernelsTest, SoftmaxIsOneKernelOfShuffles) {
  const std::string ptx = PtxForTest(Softmax("64", "1000"));
  EXPECT_EQ(ptx.find(".entry"), ptx.rfind(".entry")) << ptx;
  EXPECT_THAT(ptx, testing::HasSubstr("shfl.sync.bfly.b32"));
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr("bar.sync")));
  const std::string block =
      PtxOfModule(ParseForTest(Reduction("f32", "add", 4, 5000, "0")), "sm_90a", {}).value();
  EXPECT_THAT(block, testing::HasSubstr("bar.sync"));
  EXPECT_THAT(block, testing::HasSubstr(".shared"));
}

// Bytes and bf16 in vectors, though each product is rounded between their loads.
TEST(GroupRowKernelsTest, WeightsOfBytesInVectors) {
  for (const char* type : {"s8", "s4"}) {
    const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  x = bf16[1,512] parameter(0)
  q = $0[320,512] parameter(1)
  s = bf16[320] parameter(2)
  w = bf16[320,512] convert(q)
  d = bf16[1,320] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  sb = bf16[1,320] broadcast(s), dimensions={1}
  ROOT r = bf16[1,320] multiply(d, sb)
})",
                                              type);
    CheckOnSimulator(text, 0.1);
    const std::string ptx = PtxForTest(text);
    EXPECT_THAT(ptx, testing::HasSubstr("ld.global.nc.u32"));
    EXPECT_THAT(ptx, testing::Not(testing::ContainsRegex("ld.global.nc.[us]8")));
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
