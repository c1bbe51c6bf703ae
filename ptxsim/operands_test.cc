// Forms of operands: vector registers, elements of arrays, register parameters of functions, and
// what does not fit its instruction. Each form was tried with NVIDIA's ptxas 13.5 first.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

using testing::HasSubstr;

constexpr char kVariables[] =
    ".global .align 4 .b32 gg[4] = {10, 20, 30, 40};\n"
    ".const .align 2 .u16 cc[4] = {1, 2, 3, 4};\n"
    ".func (.reg .b32 r) twice(.reg .b32 a, .reg .b32 b) { mad.lo.u32 r, a, 2, b; ret; }\n";

std::string KernelAround(const std::string& body) {
  return WithHeader(absl::StrCat(
      kVariables,
      ".visible .entry k(.param .u64 po) {\n.reg .b16 h; .reg .b32 w<6>; .reg .b64 q<4>, out;\n"
      ".reg .f32 f; .reg .u32 u; .reg .pred p;\nld.param.u64 out, [po]; mov.u32 w5, %tid.x;\n",
      body, "\nret;\n}\n"));
}

// The word that one thread stores from w0.
uint32_t WordOf(const std::string& body) {
  std::vector<uint32_t> out(4, 0);
  const absl::Status status =
      RunWords<uint32_t>(KernelAround(body + " st.global.b32 [out], w0;"), {&out}, {});
  EXPECT_TRUE(status.ok()) << status.message();
  return out[0];
}

TEST(Operands, ComponentsOfVectorRegisters) {
  EXPECT_EQ(WordOf(".reg .v4 .u32 v; mov.u32 v.x, 1; mov.u32 v.y, 2; mov.u32 v.z, 3; mov.u32 v.w, "
                   "4; mad.lo.u32 w0, v.r, 10, v.a;"),
            14u);
  EXPECT_EQ(WordOf(".reg .v2 .b32 v; ld.global.v2.b32 v, [gg+8]; add.u32 w0, v.x, v.y;"), 70u);
  EXPECT_EQ(WordOf(".reg .v4 .b32 v<2>; mov.v4.b32 v1, {w5, w5, w5, w5}; mov.v4.u32 v0, %ntid;\n"
                   "mov.v4.b32 v1, {v0.y, v0.x, v0.w, v1.x}; add.u32 w0, v1.x, v1.z;"),
            1u);
  EXPECT_EQ(WordOf(".reg .v2 .b32 v; mov.b32 v.x, 5; mov.b32 v.y, 6; mov.v2.b32 v, {v.y, v.x};\n"
                   "mov.b64 q0, v; shr.u64 q0, q0, 32; cvt.u32.u64 w0, q0;"),
            5u);
}

TEST(Operands, ElementsOfArrays) {
  EXPECT_EQ(WordOf("ld.global.b32 w0, gg[2];"), 30u);
  EXPECT_EQ(WordOf("add.u32 w1, w5, 1; ld.global.b32 w0, gg[w1];"), 20u);
  EXPECT_EQ(WordOf("mov.b64 q1, 3; ld.global.b32 w0, gg[q1-1];"), 30u);
  EXPECT_EQ(WordOf("ld.const.u16 w0, cc[3];"), 4u);
  EXPECT_EQ(WordOf("mov.u64 q0, gg[3]; ld.global.b32 w0, [q0];"), 40u);
}

TEST(Operands, RegisterParametersOfFunctions) {
  EXPECT_EQ(WordOf("mov.u32 w1, 20; call (w0), twice, (w1, 2);"), 42u);
}

TEST(Operands, SpecialRegisters) {
  EXPECT_EQ(WordOf("mov.u64 q0, %pm0_64; mov.u32 w0, %pm7; mov.u32 w1, %envreg31;"), 0u);
}

TEST(Operands, WhatDoesNotFitIsRefused) {
  const auto refusal = [](const std::string& body) {
    return std::string(DecodeText(KernelAround(body)).status().message());
  };
  EXPECT_EQ(refusal("add.f32 f, f, 0f3F800000; mov.b32 f, w0; mov.b32 u, f;"), "");
  EXPECT_THAT(refusal("add.u32 q0, w0, w1;"), HasSubstr("`q0` is `.b64`"));
  EXPECT_THAT(refusal("add.s32 f, w0, w1;"), HasSubstr("`f` is `.f32`"));
  EXPECT_THAT(refusal("add.f32 f, u, f;"), HasSubstr("`u` is `.u32`"));
  EXPECT_THAT(refusal("add.f32 f, f, 1;"), HasSubstr("an integer for an operand"));
  EXPECT_THAT(refusal("shl.b64 q0, q1, q2;"), HasSubstr("`q2` is `.b64`"));
  EXPECT_THAT(refusal("mul.wide.u32 w0, w1, w2;"), HasSubstr("`w0` is `.b32`"));
  EXPECT_THAT(refusal("selp.b32 w0, w1, w2, w3;"), HasSubstr("`w3` is `.b32`"));
  EXPECT_THAT(refusal("ld.global.b64 w0, [q0];"), HasSubstr("too narrow"));
  EXPECT_THAT(refusal("st.global.v2.b32 [q0], {w0, h};"), HasSubstr("too narrow"));
  EXPECT_THAT(refusal("ld.global.f16 h, [q0];"), HasSubstr("with `.f16`"));
  EXPECT_THAT(refusal("ld.global.b32 w0, q0[1];"), HasSubstr("not an array"));
  EXPECT_THAT(refusal("cvt.f32.s32 f, w0;"), HasSubstr("needs a rounding mode"));
  EXPECT_THAT(refusal("cvt.u32.f32 w0, f;"), HasSubstr("needs a rounding mode"));
  EXPECT_THAT(refusal("div.f32 f, f, f;"), HasSubstr("needs a rounding mode"));
  EXPECT_THAT(refusal("fma.f32 f, f, f, f;"), HasSubstr("needs a rounding mode"));
  EXPECT_THAT(refusal("mul.f32.f16 f, f, f;"), HasSubstr("not supported"));
  EXPECT_THAT(refusal("shfl.bfly.b32 w0, w1, 1, 31;"), HasSubstr("without `.sync`"));
  EXPECT_THAT(refusal("vote.all.pred p, p;"), HasSubstr("without `.sync`"));
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
