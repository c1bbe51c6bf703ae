// Facts of operations that several folders read from one row of ops.def.
#include "ir/opcode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hlokit {
namespace {

std::vector<std::string> NamesWith(Trait trait) {
  std::vector<std::string> names;
  for (int i = 0; i < kOpcodeCount; ++i)
    if (HasTrait(static_cast<Opcode>(i), trait)) names.emplace_back(Text(static_cast<Opcode>(i)));
  return names;
}

// What hlo_module_cost_analysis of jaxlib 0.10.2 counts as a transcendental of f32.
TEST(OpcodeTest, TranscendentalsAreThoseOfXla) {
  EXPECT_EQ(NamesWith(kTranscendental),
            (std::vector<std::string>{
                "acos", "acosh",        "asin",     "asinh", "atan2",       "atanh",
                "cbrt", "cosine",       "cosh",     "erf",   "exponential", "exponential-minus-one",
                "log",  "log-plus-one", "logistic", "power", "rsqrt",       "sine",
                "sinh", "sqrt",         "tan",      "tanh"}));
}

TEST(OpcodeTest, TraitsAgreeWithEachOther) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    SCOPED_TRACE(Text(opcode).data());
    if (HasTrait(opcode, kTranscendental)) {
      EXPECT_TRUE(HasTrait(opcode, kElementwise));
      EXPECT_FALSE(HasTrait(opcode, kExact));
    }
    if (HasTrait(opcode, kMovesData)) {
      EXPECT_TRUE(HasTrait(opcode, kPicksElements));
    }
    if (HasTrait(opcode, kElementwise)) {
      EXPECT_EQ(HasTrait(opcode, kLayoutInsensitive),
                opcode != Opcode::kCopy && opcode != Opcode::kBitcastConvert);
    }
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
