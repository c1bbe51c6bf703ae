// Columns of ops.def agree with each other and with the traits.
#include "ir/op_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace hlokit {
namespace {

// Columns of a row that say the same thing in two ways.
TEST(OpFactsTest, CostsAgreeWithTraits) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    SCOPED_TRACE(Text(opcode).data());
    const CostClass cost = Facts(opcode).cost;
    const bool function = cost == CostClass::kFunction || cost == CostClass::kLongFunction;
    const bool root = opcode == Opcode::kSqrt || opcode == Opcode::kRsqrt;
    EXPECT_EQ(HasTrait(opcode, kTranscendental), function || root);
    if (HasTrait(opcode, kElementwise)) {
      EXPECT_NE(cost, CostClass::kFree);
      EXPECT_EQ(Facts(opcode).family == Family::kMovement, opcode == Opcode::kCopy);
    }
    if (HasTrait(opcode, kVectorForm)) {
      EXPECT_TRUE(HasTrait(opcode, kElementwise));
    }
    if (HasTrait(opcode, kCollective)) {
      EXPECT_EQ(Facts(opcode).family, Family::kCommunication);
    }
  }
}

// As many names as operands, where the number is fixed.
TEST(OpFactsTest, OperandsAreNamed) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const OpInfo& info = Info(static_cast<Opcode>(i));
    SCOPED_TRACE(info.text);
    const std::string names = Facts(static_cast<Opcode>(i)).operands;
    const auto commas = std::count(names.begin(), names.end(), ',');
    if (info.exact && !names.empty()) {
      EXPECT_EQ(commas + 1, info.min_operands);
    }
    if (info.exact && info.min_operands > 1) {
      EXPECT_FALSE(names.empty());
    }
  }
}

TEST(OpFactsTest, HalvesFindEachOther) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    SCOPED_TRACE(Text(opcode).data());
    EXPECT_EQ(DoneOf(opcode).has_value(), HasTrait(opcode, kAsyncStart));
    EXPECT_EQ(StartOf(opcode).has_value(), HasTrait(opcode, kAsyncDone));
    if (const auto done = DoneOf(opcode); done) {
      EXPECT_EQ(StartOf(*done), opcode);
    }
  }
  EXPECT_EQ(DoneOf(Opcode::kSend), Opcode::kSendDone);
  EXPECT_EQ(WholeOf(Opcode::kAllGatherStart), Opcode::kAllGather);
  EXPECT_EQ(WholeOf(Opcode::kCopyStart), Opcode::kCopy);
  EXPECT_EQ(WholeOf(Opcode::kAsyncStart), std::nullopt);
  EXPECT_EQ(WholeOf(Opcode::kSend), std::nullopt);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
