// Tests of the bound on a run's work.
#include "analysis/work_bound.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

// `depth` computations, each calling the one before twice.
std::unique_ptr<Module> Doubling(int depth) {
  std::string text = "HloModule m\n\nbody0 {\n  ROOT p = f32[] parameter(0)\n}\n";
  for (int i = 1; i < depth; ++i)
    absl::StrAppend(&text, "body", i,
                    " {\n  p = f32[] parameter(0)\n  q = f32[] call(p), to_apply=body", i - 1,
                    "\n  ROOT r = f32[] call(q), to_apply=body", i - 1, "\n}\n");
  absl::StrAppend(&text,
                  "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=body",
                  depth - 1, "\n}\n");
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("m", text), {}, diagnostics);
  EXPECT_TRUE(module.ok());
  return *std::move(module);
}

TEST(WorkBound, CountsBodiesAsOftenAsTheyAreCalled) {
  EXPECT_EQ(LeastExecutions(*Doubling(1)), 2 + 1);
  EXPECT_EQ(LeastExecutions(*Doubling(2)), 2 + 3 + 2 * 1);
  EXPECT_EQ(LeastExecutions(*Doubling(3)), 2 + 3 + 2 * (3 + 2 * 1));
  EXPECT_TRUE(CheckWork(*Doubling(20)).ok());
}

TEST(WorkBound, RefusesABillionLaughs) {
  const auto module = Doubling(60);
  EXPECT_FALSE(CheckWork(*module).ok());
  EXPECT_TRUE(PlaceOf(CheckWork(*module)).valid());
  EXPECT_EQ(LeastExecutions(*Doubling(100)), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
