// Scans of rows give what the interpreter gives: by warps and by blocks, of every type and
// operation, from both ends, rows that end within a piece; each element is read and written once.
#include "backends/cuda/scan_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

struct ScanCase {
  std::string type = "f32", op = "add", start = "0";
  int64_t rows = 3, length = 200;
  bool reverse = false;
};

// The scan of a row, of what is computed of x.
std::string ScanOf(const ScanCase& c, const std::string& computed = "copy(x)") {
  const std::string pad =
      c.reverse ? absl::StrCat("0_", c.length - 1) : absl::StrCat(c.length - 1, "_0");
  return absl::Substitute(R"(HloModule m
f { a = $0[] parameter(0) b = $0[] parameter(1) ROOT s = $0[] $1(a, b) }
ENTRY e {
  x = $0[$2,$3] parameter(0)
  y = $0[$2,$3] $6
  c = $0[] constant($4)
  ROOT r = $0[$2,$3] reduce-window(y, c), window={size=1x$3 pad=0_0x$5}, to_apply=f
})",
                          c.type, c.op, c.rows, c.length, c.start, pad, computed);
}

TEST(ScanKernelsTest, LengthsByWarpsAndBlocks) {
  for (const int64_t length : {128, 129, 200, 512, 516, 1023, 1024, 4100})
    for (const int64_t rows : {1, 3, 70}) {
      CheckOnSimulator(ScanOf({.rows = rows, .length = length}), 1e-3);
      CheckOnSimulator(ScanOf({.rows = rows, .length = length, .reverse = true}), 1e-3);
    }
}

// Enough rows for a warp each, though they are long.
TEST(ScanKernelsSimulationTest, ManyRows) {
  CheckOnSimulator(ScanOf({.rows = 2048, .length = 600}), 1e-3);
  CheckOnSimulator(ScanOf({.type = "s32", .rows = 2050, .length = 601, .reverse = true}), 0);
}

TEST(ScanKernelsTest, TypesAndOperations) {
  for (const int64_t length : {150, 2100}) {
    for (const char* type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
      CheckOnSimulator(ScanOf({.type = type, .length = length}), 0);
      CheckOnSimulator(ScanOf({.type = type, .op = "or", .length = length}), 0);
      CheckOnSimulator(ScanOf({.type = type, .op = "multiply", .start = "1", .length = length}), 0);
    }
    CheckOnSimulator(ScanOf({.type = "f64", .length = length}), 1e-9);
    for (const char* type : {"f32", "f64"}) {
      CheckOnSimulator(ScanOf({.type = type, .op = "maximum", .start = "-inf", .length = length}),
                       0);
      CheckOnSimulator(ScanOf({.type = type, .op = "minimum", .start = "inf", .length = length}),
                       0);
    }
  }
}

TEST(ScanKernelsTest, WhatIsScannedIsComputedAsItIsRead) {
  const ScanCase c{.rows = 4, .length = 1500};
  CheckOnSimulator(ScanOf(c, "multiply(x, x)"), 1e-2);
  const std::string ptx = PtxForTest(ScanOf(c, "exponential(x)"));
  EXPECT_THAT(ptx, testing::HasSubstr("shfl.sync"));
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr("kernel_1_")));  // one launch
}

// What reads the results is another kernel: each of its elements would scan its row anew.
TEST(ScanKernelsTest, ReadersStayApart) {
  const std::string text = R"(HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[5,700] parameter(0)
  c = f32[] constant(0)
  r = f32[5,700] reduce-window(x, c), window={size=1x700 pad=0_0x699_0}, to_apply=f
  s = f32[5,700] sine(r)
  t = f32[5,700] cosine(x)
  ROOT all = (f32[5,700], f32[5,700], f32[5,700]) tuple(r, s, t)
})";
  CheckOnSimulator(text, 1e-3);
  EXPECT_THAT(PtxForTest(text), testing::HasSubstr("shfl.sync"));
}

// Few rows that are long are scanned in rows of 1024.
TEST(ScanKernelsSimulationTest, LongRows) {
  for (const bool reverse : {false, true})
    CheckOnSimulator(ScanOf({.type = "s32", .rows = 2, .length = 70000, .reverse = reverse}), 0);
  CheckOnSimulator(R"(HloModule m
f { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
ENTRY e {
  x = s32[20000] parameter(0)
  c = s32[] constant(0)
  ROOT r = s32[20000] reduce-window(x, c), window={size=20000 pad=19999_0}, to_apply=f
})",
                   0);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
