// The tables of kernels agree with ops.def.
#include "ops/evaluate/kernels.h"

#include <gtest/gtest.h>

namespace hlokit {
namespace {

constexpr absl::string_view kEvaluators[kOpcodeCount] = {
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) #evaluate,
#include "ir/ops.def"
#undef HLO_OP
};

TEST(EvalKernelsTest, WhatUnaryAndBinaryEvaluateHasAKernel) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const bool named = kEvaluators[i] == "Unary" || kEvaluators[i] == "Binary";
    const bool found = RealKernel(opcode) || SignedKernel(opcode) || UnsignedKernel(opcode) ||
                       ComplexKernel(opcode);
    EXPECT_EQ(named, found) << Text(opcode);
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
