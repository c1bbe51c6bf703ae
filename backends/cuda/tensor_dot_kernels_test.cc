// Dots on tensor cores give what the interpreter gives: every type, sides that tiles divide and
// sides that they do not, operands in every order of memory, batches; and the PTX has matrix
// instructions where the architecture and the types have them, and only there.
#include "backends/cuda/tensor_dot_kernels.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

constexpr char kPlain[] = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";

std::string Dot(const std::string& lhs, const std::string& rhs, const std::string& result,
                const std::string& dims = kPlain) {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0 parameter(0)\n y = $1 parameter(1)\n"
      " ROOT r = $2 dot(x, y), $3\n}\n",
      lhs, rhs, result, dims);
}

void Check(const std::string& text, double error) {
  EXPECT_TRUE(absl::StrContains(PtxForTest(text), "mma.sync")) << text;
  CheckOnSimulator(text, error);
}

std::string Sized(const std::string& type, int64_t rows, int64_t columns) {
  return absl::Substitute("$0[$1,$2]", type, rows, columns);
}

TEST(TensorDotSimulationTest, Sizes) {
  for (const int64_t m : {8, 33, 64, 130})
    for (const int64_t n : {9, 32, 130})
      for (const int64_t k : {8, 33, 64, 100})
        Check(Dot(Sized("bf16", m, k), Sized("bf16", k, n), Sized("f32", m, n)), 1e-4);
}

// More tiles than multiprocessors: 128 x 128 and 128 x 64.
TEST(TensorDotSimulationTest, LargeTiles) {
  for (const char* n : {"260", "100"})
    Check(Dot("f16[48,200,40]", absl::Substitute("f16[48,40,$0]", n),
              absl::Substitute("f32[48,200,$0]", n),
              "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
              "rhs_contracting_dims={1}"),
          1e-4);
}

TEST(TensorDotSimulationTest, Types) {
  for (const char* type : {"f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e5m2fnuz"}) {
    Check(Dot(Sized(type, 40, 72), Sized(type, 72, 48), "f32[40,48]"), 1e-4);
    Check(Dot(Sized(type, 40, 72), Sized(type, 72, 48), Sized("bf16", 40, 48)), 1e-2);
  }
  Check(Dot("bf16[40,72]", "f8e5m2[72,48]", "bf16[40,48]"), 1e-2);
  for (const char* lhs : {"s8", "u8"})
    for (const char* rhs : {"s8", "u8"})
      for (const char* result : {"s32", "u8", "s16"})
        Check(Dot(Sized(lhs, 40, 130), Sized(rhs, 130, 48), Sized(result, 40, 48)), 0);
}

TEST(TensorDotTest, OrdersOfMemory) {
  for (const char* type : {"bf16", "s8"})
    for (const int lhs : {0, 1})
      for (const int rhs : {0, 1})
        Check(
            Dot(lhs == 1 ? Sized(type, 144, 80) : Sized(type, 80, 144),
                rhs == 1 ? Sized(type, 72, 80) : Sized(type, 80, 72),
                *type == 's' ? "s32[144,72]" : "f32[144,72]",
                absl::Substitute("lhs_contracting_dims={$0}, rhs_contracting_dims={$1}", lhs, rhs)),
            1e-4);
  Check(Dot("f16[4,3,6,5,8]", "f16[8,2,3,4,9]", "f32[3,6,5,2,9]",
            "lhs_batch_dims={1}, lhs_contracting_dims={4,0}, rhs_batch_dims={2}, "
            "rhs_contracting_dims={0,3}"),
        1e-4);
  // Batches are the fastest in memory.
  Check(Dot("f16[40,24,3]", "f16[24,30,3]", "f32[3,40,30]",
            "lhs_batch_dims={2}, lhs_contracting_dims={1}, rhs_batch_dims={2}, "
            "rhs_contracting_dims={0}"),
        1e-4);
}

TEST(TensorDotTest, InfinitiesPastTheEndMakeNoNan) {
  Check(R"(HloModule m
ENTRY e {
  c = bf16[] constant(inf)
  x = bf16[17,19] broadcast(c), dimensions={}
  y = bf16[19,21] parameter(0)
  z = bf16[19,21] abs(y)
  ROOT r = f32[17,21] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
        0);
}

TEST(TensorDotTest, Instructions) {
  const std::string dot = Dot("bf16[2048,256]", "bf16[256,2048]", "bf16[2048,2048]");
  const std::string ptx = PtxForTest(dot, "sm_80");
  for (const char* instruction :
       {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "ld.global.nc.v4."})
    EXPECT_TRUE(absl::StrContains(ptx, instruction)) << instruction;
  EXPECT_FALSE(absl::StrContains(PtxForTest(dot, "sm_75"), "mma.sync"));
  for (const char* type : {"f32", "f64", "s16"})
    EXPECT_FALSE(absl::StrContains(
        PtxForTest(Dot(Sized(type, 64, 64), Sized(type, 64, 64), Sized(type, 64, 64))), "mma.sync"))
        << type;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
