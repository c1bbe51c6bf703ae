// That every elementwise instruction has an operation in StableHLO: a row of convert/operations.def that gets a function of
// its own is not read backwards any more, and wants one in write/forms.def.
#include "stablehlo/write/forms_internal.h"

#include <gtest/gtest.h>

#include "ir/module.h"

namespace hlokit {
namespace {

TEST(WrittenFormTest, EveryElementwiseInstructionHasOne) {
  Module module("m");
  Computation* computation = module.AddComputation("c");
  Instruction* x =
      computation->AddParameter(0, Shape::Array(ElementType::kF32, {2}).WithDefaultLayout());
  for (int k = 0; k < kOpcodeCount; ++k) {
    const Opcode opcode = static_cast<Opcode>(k);
    // Copies are their operands. Stochastic rounding has no equal.
    if (!HasTrait(opcode, kElementwise) || opcode == Opcode::kCopy ||
        opcode == Opcode::kStochasticConvert)
      continue;
    const std::vector<Instruction*> operands(Info(opcode).min_operands, x);
    const Instruction* made = computation->Add(opcode, x->shape(), operands);
    const auto form = WrittenFormOf(*made);
    EXPECT_TRUE(form.ok()) << form.status();
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
