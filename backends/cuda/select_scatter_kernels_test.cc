// Select-and-scatter gives what the interpreter gives, sources of one place in their order.
#include "backends/cuda/select_scatter_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

// The gradient of a max-pooling; few values, so that many elements of a window are equal.
std::string Pooling(const std::string& type, const std::string& from, const std::string& to,
                    const std::string& layout, const std::string& window,
                    const std::string& scatter = "add") {
  return absl::Substitute(R"(HloModule m
ge { a = $0[] parameter(0) b = $0[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
f { a = $0[] parameter(0) b = $0[] parameter(1) ROOT r = $0[] $5(a, b) }
ENTRY e {
  n = s32[$1]$3 parameter(0)
  seven = s32[$1]$3 broadcast(s32[] constant(7)), dimensions={}
  few = s32[$1]$3 remainder(n, seven)
  x = $0[$1]$3 convert(few)
  s = $0[$2]$3 parameter(1)
  start = $0[] constant(1)
  ROOT r = $0[$1]$3 select-and-scatter(x, s, start), window={$4}, select=ge, scatter=f
})",
                          type, from, to, layout, window, scatter);
}

TEST(SelectScatterKernelsTest, WindowsOfEveryKind) {
  const struct {
    const char *from, *to, *layout, *window;
  } forms[] = {{"2,8,8,3", "2,4,4,3", "{3,2,1,0}", "size=1x2x2x1 stride=1x2x2x1"},
               {"2,9,9,3", "2,4,4,3", "{2,1,0,3}", "size=1x3x3x1 stride=1x2x2x1"},
               {"9,7", "7,3", "{0,1}", "size=3x3 stride=1x2"},
               {"5,20", "5,7", "{1,0}", "size=1x2 stride=1x3"},
               {"6,9", "4,6", "{1,0}", "size=3x3 stride=2x2 pad=2_2x3_2"},
               {"17", "4", "{0}", "size=3 stride=4 pad=-1_0"},
               {"30", "10", "{0}", "size=4 stride=2 pad=0_0 rhs_dilate=3"}};
  for (const auto& f : forms) {
    CheckOnSimulator(Pooling("f32", f.from, f.to, f.layout, f.window), 1e-6);
    CheckOnSimulator(Pooling("f64", f.from, f.to, f.layout, f.window, "subtract"), 1e-12);
    CheckOnSimulator(Pooling("s32", f.from, f.to, f.layout, f.window), 0);
    CheckOnSimulator(Pooling("bf16", f.from, f.to, f.layout, f.window), 0.05);
    CheckOnSimulator(Pooling("f16", f.from, f.to, f.layout, f.window), 0.01);
  }
}

// All sources of overlapping windows may meet in one place; their order is the source's.
TEST(SelectScatterKernelsTest, KeepsTheOrder) {
  CheckOnSimulator(R"(HloModule m
ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
f { a = f32[] parameter(0) b = f32[] parameter(1) h = f32[] constant(0.5) c = f32[] multiply(a, h)
    ROOT r = f32[] add(c, b) }
ENTRY e {
  n = f32[40,40] iota(), iota_dimension=1
  high = f32[40,40] broadcast(f32[] constant(20)), dimensions={}
  x = f32[40,40] minimum(n, high)
  s = f32[36,36] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[40,40] select-and-scatter(x, s, zero), window={size=5x5}, select=ge, scatter=f
})",
                   1e-6);
}

TEST(SelectScatterKernelsTest, ManyThreads) {
  const std::string ptx = PtxForTest(
      Pooling("f32", "2,64,64,8", "2,32,32,8", "{3,2,1,0}", "size=1x2x2x1 stride=1x2x2x1"));
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr(".reqntid 1,")));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
