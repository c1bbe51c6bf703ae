// Numbers that names get, as XLA gives them.
#include "ir/name_uniquer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hlokit {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Unique(std::initializer_list<absl::string_view> names) {
  NameUniquer uniquer;
  std::vector<std::string> unique;
  for (absl::string_view name : names) unique.push_back(uniquer.Unique(name));
  return unique;
}

TEST(NameUniquer, ANameWithoutANumberIsNumberZero) {
  EXPECT_THAT(Unique({"a", "a", "a.0", "a.5", "a.5"}),
              ElementsAre("a", "a.1", "a.2", "a.5", "a.3"));
  EXPECT_THAT(Unique({"a.0", "a", "a.0"}), ElementsAre("a.0", "a.1", "a.2"));
}

TEST(NameUniquer, TheLowestFreeNumberCountsFromZero) {
  EXPECT_THAT(Unique({"Arg_0.5", "Arg_0.5", "Arg_0.5", "Arg_0"}),
              ElementsAre("Arg_0.5", "Arg_0.0", "Arg_0.1", "Arg_0.2"));
  EXPECT_THAT(Unique({"a.1", "a.1", "a.0"}), ElementsAre("a.1", "a.0", "a.2"));
}

TEST(NameUniquer, NumbersArePrintedAsNumbers) {
  EXPECT_THAT(Unique({"a.007", "a.7", "b.00", "c.-0", "d.-01", "d.-1"}),
              ElementsAre("a.7", "a.0", "b.0", "c.0", "d.-1", "d.0"));
  EXPECT_THAT(Unique({"a.00000000000000000000001", "a.1"}), ElementsAre("a.1", "a.0"));
}

TEST(NameUniquer, WhatIsNoNumberStaysInTheName) {
  EXPECT_THAT(Unique({"a.", "a.", "a..3", "a..3", ".4", ".4"}),
              ElementsAre("a.", "a..1", "a..3", "a..2", ".4", ".4.1"));
  EXPECT_THAT(Unique({"a.1x", "a.1x", "a.9223372036854775808", "a.9223372036854775808"}),
              ElementsAre("a.1x", "a.1x.1", "a.9223372036854775808", "a.9223372036854775808.1"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
