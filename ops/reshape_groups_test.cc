// Groups and sizes by hand.
#include "ops/reshape_groups.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

std::string Groups(const DimVector& from, const DimVector& to) {
  std::vector<std::string> texts;
  for (const ReshapeGroup& g : ReshapeGroups(from, to))
    texts.push_back(absl::StrCat(g.from, "-", g.from_end, "|", g.to, "-", g.to_end));
  return absl::StrJoin(texts, " ");
}

TEST(ReshapeGroupsTest, AreTheSmallest) {
  EXPECT_EQ(Groups({4, 6, 5}, {4, 2, 3, 5}), "0-1|0-1 1-2|1-3 2-3|3-4");
  EXPECT_EQ(Groups({4, 3}, {12}), "0-2|0-1");
  EXPECT_EQ(Groups({4, 6}, {6, 4}), "0-2|0-2");
  EXPECT_EQ(Groups({4, 3}, {4, 1, 3}), "0-1|0-1 1-2|1-3");
  EXPECT_EQ(Groups({4}, {1, 4, 1}), "0-1|0-3");
  EXPECT_EQ(Groups({1}, {}), "0-1|0-0");
  EXPECT_EQ(Groups({}, {1, 1}), "0-0|0-2");
  EXPECT_EQ(Groups({2, 0}, {0, 7}), "0-2|0-2");
}

DimVector Sizes(const DimVector& from, const DimVector& sizes, const DimVector& to,
                uint64_t dynamic) {
  Shape result = Shape::Array(ElementType::kS32, to);
  result.dynamic_mask = dynamic;
  return ReshapedSizes(ReshapeGroups(from, to), sizes, result);
}

TEST(ReshapeGroupsTest, SizesStayInTheirGroups) {
  EXPECT_EQ(Sizes({4, 3}, {2, 3}, {2, 2, 3}, 0b101), (DimVector{1, 2, 3}));
  EXPECT_EQ(Sizes({4, 3}, {3, 2}, {12}, 0b1), (DimVector{6}));
  EXPECT_EQ(Sizes({6}, {4}, {2, 3}, 0b10), (DimVector{2, 2}));
  EXPECT_EQ(Sizes({6}, {4}, {2, 3}, 0b01), (DimVector{1, 3}));
  EXPECT_EQ(Sizes({2, 0}, {1, 0}, {1, 2, 0}, 0b001), (DimVector{1, 2, 0}));
  EXPECT_EQ(Sizes({6, 2}, {0, 1}, {2, 3, 2}, 0b101), (DimVector{0, 3, 1}));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
