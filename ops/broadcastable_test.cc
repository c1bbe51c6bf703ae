// Broadcasting against the trait's tables and examples, and the builder's rules against their
// worked examples. Dims are written as in the sources: "?,1" or "*" for an unranked operand.
#include "ops/broadcastable.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

MaybeRanked Dims(absl::string_view text) {
  if (text == "*") return std::nullopt;
  DimVector dims;
  for (absl::string_view size : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t value = kUnbounded;
    if (size != "?") {
      EXPECT_TRUE(absl::SimpleAtoi(size, &value)) << size;
    }
    dims.push_back(value);
  }
  return dims;
}

std::string TextOf(const absl::StatusOr<MaybeRanked>& dims) {
  if (!dims.ok()) return "error";
  if (!*dims) return "*";
  return absl::StrJoin(**dims, ",", [](std::string* out, int64_t size) {
    absl::StrAppend(out, size == kUnbounded ? "?" : absl::StrCat(size));
  });
}

std::vector<MaybeRanked> Operands(absl::string_view text) {
  std::vector<MaybeRanked> operands;
  for (absl::string_view operand : absl::StrSplit(text, ' ')) operands.push_back(Dims(operand));
  return operands;
}

TEST(BroadcastableTest, DimensionTable) {
  const std::pair<const char*, const char*> rows[] = {
      {"? ?", "?"},     {"? 1", "?"}, {"? 4", "4"}, {"1 1", "1"}, {"1 4", "4"},     {"4 4", "4"},
      {"4 5", "error"}, {"0 0", "0"}, {"0 1", "0"}, {"? 0", "0"}, {"0 4", "error"},
  };
  for (const auto& [operands, result] : rows) {
    std::vector<MaybeRanked> both = Operands(operands);
    EXPECT_EQ(TextOf(InferBroadcastResult(both)), result) << operands;
    std::swap(both[0], both[1]);
    EXPECT_EQ(TextOf(InferBroadcastResult(both)), result) << operands << ", exchanged";
  }
}

TEST(BroadcastableTest, RanksAreExpandedOnTheLeft) {
  EXPECT_EQ(TextOf(MaybeRanked(ExpandRank({4}, 3))), "1,1,4");
  EXPECT_EQ(TextOf(MaybeRanked(ExpandRank({2, 3}, 1))), "2,3");
  const std::pair<const char*, const char*> rows[] = {
      {"4 2,3,4", "2,3,4"},
      {"?,1 3", "?,3"},
      {" 2", "2"},
      {"3,4 2,1,4", "2,3,4"},
  };
  for (const auto& [operands, result] : rows)
    EXPECT_EQ(TextOf(InferBroadcastResult(Operands(operands))), result) << operands;
}

TEST(BroadcastableTest, AnyNumberOfOperands) {
  const std::pair<const char*, const char*> rows[] = {
      {"1,4 * 3,1", "3,4"},
      {"* *", "*"},
      {"2 ? 2", "2"},
      {"? 1 1", "?"},
      {"5", "5"},
      {"* 7", "7"},
      {"2,1 1,3 4,1,1", "4,2,3"},
      {"2 ? 3", "error"},
  };
  for (const auto& [operands, result] : rows)
    EXPECT_EQ(TextOf(InferBroadcastResult(Operands(operands))), result) << operands;
}

struct ResultCase {
  const char* operands;
  const char* result;
  bool strict, lenient;  // accepted
};

TEST(BroadcastableTest, ResultsAreVerified) {
  const ResultCase cases[] = {
      // The seed's correct uses.
      {"1,2 1,2", "1,2", true, true},
      {"? ?", "?", true, true},
      {"1 4", "4", true, true},
      {"4", "?", true, true},
      {"4 2,3,4", "2,3,4", true, true},
      {"2 2", "2", true, true},
      {"2", "*", true, true},
      {"* *", "2", true, true},
      // Its incorrect ones; the third is what the two readings disagree on.
      {"3 2", "?", false, false},
      {"3 3", "1,3", false, false},
      {"? ?", "4", false, true},
      {"2 2", "4", false, false},
      {"1 1", "4", false, false},
      // Failing operands fail whatever the result says.
      {"3 2", "*", false, false},
      {"?,2 ?,2", "3,5", false, false},
  };
  for (const ResultCase& c : cases) {
    const std::vector<MaybeRanked> operands = Operands(c.operands);
    const MaybeRanked result = Dims(c.result);
    EXPECT_EQ(VerifyBroadcastResult(operands, result, BroadcastCheck::kStrict).ok(), c.strict)
        << c.operands << " -> " << c.result;
    EXPECT_EQ(VerifyBroadcastResult(operands, result, BroadcastCheck::kLenient).ok(), c.lenient)
        << c.operands << " -> " << c.result;
  }
  EXPECT_FALSE(VerifyBroadcastResult({}, Dims("2"), BroadcastCheck::kLenient).ok());
}

TEST(BroadcastableTest, MessagesSayWhatDiffers) {
  const auto operands = InferBroadcastResult(Operands("2,3 2,?,4"));
  EXPECT_EQ(operands.status().message(),
            "[2,3] and [2,?,4] do not broadcast: sizes 3 and 4 differ, and neither is 1");
  const absl::Status result =
      VerifyBroadcastResult(Operands("?"), Dims("4"), BroadcastCheck::kStrict);
  EXPECT_EQ(result.message(), "expects ? as size of dimension 0, found [4]");
}

// "2,<=3" as f32[2,<=3].
Shape ShapeOf(absl::string_view text) {
  Shape shape = Shape::Scalar(ElementType::kF32);
  for (absl::string_view size : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const bool dynamic = absl::ConsumePrefix(&size, "<=") || size == "?";
    shape.dims.push_back(Dims(size)->at(0));
    shape.SetDynamic(shape.rank() - 1, dynamic);
  }
  return shape;
}

struct BuilderCase {
  const char* lhs;
  const char* rhs;
  DimVector map;
  const char* result;
};

void CheckBuilderCases(absl::Span<const BuilderCase> cases) {
  for (const BuilderCase& c : cases) {
    for (bool exchanged : {false, true}) {
      const Shape lhs = ShapeOf(exchanged ? c.rhs : c.lhs),
                  rhs = ShapeOf(exchanged ? c.lhs : c.rhs);
      const absl::StatusOr<Shape> result = BroadcastOperands(lhs, rhs, c.map);
      const std::string expected =
          absl::string_view(c.result) == "error" ? "error" : Text(ShapeOf(c.result));
      EXPECT_EQ(result.ok() ? Text(*result) : "error", expected) << c.lhs << " with " << c.rhs;
    }
  }
}

TEST(BuilderBroadcastTest, ScalarsGoWithAnything) {
  CheckBuilderCases({{"2,3", "", {}, "2,3"}, {"", "", {}, ""}, {"<=4", "", {}, "<=4"}});
}

TEST(BuilderBroadcastTest, LowerRanksNameTheirDimensions) {
  CheckBuilderCases({
      {"2,3", "3", {1}, "2,3"},
      {"3,3", "3", {0}, "3,3"},
      {"2,3", "3", {0}, "error"},
      {"2,3", "3", {}, "error"},
      {"2,3,4", "3,4", {1, 2}, "2,3,4"},
      {"5,6,7,8", "5,8", {0, 3}, "5,6,7,8"},
      {"5,6,7,8", "7,6", {2, 1}, "error"},
      {"5,6,7,8", "6,6", {1, 1}, "error"},
      {"2,3", "3", {2}, "error"},
      {"2,3", "3", {-1}, "error"},
      {"2,3", "3", {0, 1}, "error"},
  });
}

TEST(BuilderBroadcastTest, SizesOfOneStretch) {
  CheckBuilderCases({
      {"2,1", "2,3", {}, "2,3"},
      {"1,2,5", "7,2,5", {}, "7,2,5"},
      {"7,2,5", "7,1,5", {}, "7,2,5"},
      {"7,2,5", "7,2,6", {}, "error"},
      {"2,1", "1,3", {}, "2,3"},
      {"2,1", "1,3", {0, 1}, "2,3"},
      {"2,2", "2,2", {1, 0}, "error"},
      {"2,2", "2,2", {0}, "error"},
      {"1", "0", {}, "0"},
  });
}

TEST(BuilderBroadcastTest, BothAtOnce) {
  CheckBuilderCases({
      {"4", "1,2", {0}, "4,2"},
      {"1,2", "4,3,1", {1, 2}, "4,3,2"},
      {"2,1", "2,3,4", {0, 2}, "2,3,4"},
      {"2,3", "2,1,4", {0, 1}, "2,3,4"},
      {"2,1", "2,3,4", {1, 2}, "error"},
  });
}

TEST(BuilderBroadcastTest, DynamicDimensions) {
  CheckBuilderCases({
      {"1", "<=4", {}, "<=4"},
      {"4", "<=4", {}, "<=4"},
      {"<=1", "4", {}, "4"},
      {"<=3", "<=4", {}, "error"},
      {"?", "1", {}, "?"},
      {"?", "<=4", {}, "<=4"},
      {"?", "4", {}, "4"},
      {"<=4", "2,4", {1}, "2,<=4"},
  });
  const Shape tuple = Shape::Tuple({});
  EXPECT_FALSE(BroadcastOperands(tuple, tuple, {}).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
