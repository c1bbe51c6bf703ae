// Operations and bytes of single instructions.
#include "analysis/instruction_cost.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

InstructionCost CostOfRoot(absl::string_view body) {
  const std::string text = absl::StrCat(
      "HloModule m\n\nsum { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT r = f32[] add(a, b) }\n\nENTRY e {\n"
      "  x = f32[4,8]{1,0} parameter(0)\n  y = f32[8,16]{1,0} parameter(1)\n"
      "  z = f32[] constant(0)\n  i = s32[] constant(1)\n",
      body, "}\n");
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("test.hlo", text), ParseOptions(),
                            diagnostics);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? CostOf(*(*module)->entry()->root()) : InstructionCost();
}

TEST(InstructionCostTest, CountsOperationsAndBytes) {
  struct {
    const char* body;
    double flops, bytes;
  } const kCases[] = {
      {"  ROOT r = f32[4,8]{1,0} add(x, x)\n", 32, 3 * 128},
      {"  ROOT r = f32[4,16]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
       2 * 4 * 16 * 8, 128 + 512 + 256},
      {"  ROOT r = f32[4]{0} reduce(x, z), dimensions={1}, to_apply=sum\n", 32, 128 + 4 + 16},
      {"  ROOT r = f32[1,8]{1,0} dynamic-slice(x, i, i), dynamic_slice_sizes={1,8}\n", 0,
       32 + 4 + 4 + 32},
      {"  g = s32[2] constant({1, 3})\n  w = f32[2,8,16]{2,1,0} parameter(2)\n  ROOT r = "
       "f32[4,16]{1,0} "
       "ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={0}, rhs_group_dims={0}\n",
       2 * 4 * 16 * 8, 128 + 1024 + 8 + 256},
      {"  a = f32[2,3,3]{2,1,0} parameter(2)\n  ROOT r = f32[2,3,3]{2,1,0} cholesky(a), "
       "lower=true\n",
       2 * 9, 72 + 72},
      {"  c = c64[2,8]{1,0} parameter(2)\n  ROOT r = c64[2,8]{1,0} fft(c), fft_type=FFT, "
       "fft_length={8}\n",
       16 * 3 * 5, 128 + 128},
      {"  ROOT r = (f32[4,16]{1,0}, s8[4096]{0}) custom-call(x, y), "
       "custom_call_target=\"__cublas$gemm\", "
       "backend_config={\"gemm_backend_config\":{\"alpha_real\":1,\"beta\":0,\"dot_dimension_"
       "numbers\":{"
       "\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"],"
       "\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]},\"epilogue\":\"DEFAULT\"}}\n",
       2 * 4 * 16 * 8, 128 + 512 + 256},
      {"  p = f32[1,4,1]{2,1,0} parameter(2)\n  k = f32[2,1,3]{2,1,0} parameter(3)\n"
       "  ROOT r = (f32[1,3,3]{2,1,0}, u8[0]{0}) custom-call(p, k), window={size=2}, "
       "dim_labels=b0f_0io->b0f, custom_call_target=\"__cudnn$convForward\"\n",
       2 * 9 * 2, 16 + 24 + 36},
  };
  for (const auto& c : kCases) {
    const InstructionCost cost = CostOfRoot(c.body);
    EXPECT_EQ(cost.flops, c.flops) << c.body;
    EXPECT_EQ(cost.bytes, c.bytes) << c.body;
  }
}

TEST(InstructionCost, CountsFunctionsAndNothingForTuples) {
  const auto module = ParseModule(
      "ENTRY e { p = f32[8] parameter(0) x = f32[8] exponential(p) n = f32[8] negate(x)"
      " t = (f32[8], f32[8]) tuple(x, n) ROOT g = f32[8] get-tuple-element(t), index=1 }");
  CHECK_OK(module.status());
  for (const Instruction* i : (*module)->entry()->Instructions()) {
    const InstructionCost cost = CostOf(*i);
    const bool computes = i->name() == "x" || i->name() == "n";
    EXPECT_EQ(cost.flops, computes ? 8 : 0) << i->name();
    EXPECT_EQ(cost.transcendentals, i->name() == "x" ? 8 : 0) << i->name();
    EXPECT_EQ(cost.bytes, computes ? 64 : 0) << i->name();
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
