// Counts of leaves agree with the list of them.
#include "types/shape_leaves.h"

#include <gtest/gtest.h>

namespace hlokit {
namespace {

TEST(ShapeLeavesTest, CountsAsLeavesLists) {
  const Shape array = Shape::Array(ElementType::kF32, {2});
  const Shape inner = Shape::Tuple({array, Shape::Tuple({}), array});
  const Shape outer = Shape::Tuple({inner, array, Shape::Tuple({inner})});
  for (const Shape& shape : {array, Shape::Tuple({}), inner, outer})
    EXPECT_EQ(NumLeaves(shape), static_cast<int64_t>(Leaves(shape).size()));
  EXPECT_EQ(LeafOffset(outer, 0), 0);
  EXPECT_EQ(LeafOffset(outer, 1), 2);
  EXPECT_EQ(LeafOffset(outer, 2), 3);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
