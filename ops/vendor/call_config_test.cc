// Both spellings of backend_config, and what is refused.
#include "ops/vendor/call_config.h"

#include "gtest/gtest.h"

namespace hlokit {
namespace {

TEST(CallConfigTest, ReadsDictionaries) {
  const auto config = ParseCallConfig(
      R"({uplo = 76 : ui8, scale = 2.5 : f32, name = "a \"b\"", ids = array<i64: 1, -2>, on, off = false,
         list = [1 : i64, 2 : i64], values = dense<[1.5, 2]> : tensor<2xf64>, inner = {x = 1}})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->NumberOr("uplo", 0), 76);
  EXPECT_EQ(config->NumberOr("scale", 0), 2.5);
  EXPECT_EQ(config->StringOr("name", ""), "a \"b\"");
  EXPECT_EQ(config->IntegersOf("ids"), (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(config->IntegersOf("list"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(config->NumberOr("on", 0), 1);
  EXPECT_EQ(config->NumberOr("off", 1), 0);
  EXPECT_EQ(config->NumberOr("missing", 7), 7);
  ASSERT_NE(config->Find("values"), nullptr);
  EXPECT_EQ(config->Find("values")->list[0].number, 1.5);
  EXPECT_EQ(config->Find("inner")->NumberOr("x", 0), 1);
}

TEST(CallConfigTest, ReadsJson) {
  const auto config =
      ParseCallConfig(R"({"gemm":{"alpha":1e-3,"dims":["1","2"],"nothing":null},"flag":true})");
  ASSERT_TRUE(config.ok()) << config.status();
  const ConfigValue* gemm = config->Find("gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->NumberOr("alpha", 0), 1e-3);
  EXPECT_EQ(gemm->IntegersOf("dims"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(gemm->NumberOr("nothing", 5), 5);
  EXPECT_EQ(config->NumberOr("flag", 0), 1);
}

TEST(CallConfigTest, OtherTextHasNoEntries) {
  EXPECT_TRUE(ParseCallConfig("1,1,100,1e-6")->map.empty());
  EXPECT_TRUE(ParseCallConfig("")->map.empty());
}

TEST(CallConfigTest, RefusesWhatDoesNotEnd) {
  for (const char* text : {"{", "{a", "{a = ", "{a = [1", "{\"a", "{a = 1} b", "{a = 1 b = 2}"})
    EXPECT_FALSE(ParseCallConfig(text).ok()) << text;
  EXPECT_FALSE(ParseCallConfig("{a = " + std::string(100000, '[')).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
