// The seed's worked example of a padded layout.
#include "types/padded_layout.h"

#include "gtest/gtest.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

Literal Matrix() {
  Literal matrix(Shape::Array(ElementType::kS32, {2, 3}));
  for (int i = 0; i < 6; ++i) matrix.SetInt(i, i + 1);
  return matrix;
}

PaddedLayout Layout3x5(DimVector minor_to_major) {
  return {std::move(minor_to_major), {3, 5}, Literal::R0<int32_t>(0)};
}

TEST(PaddedLayoutTest, ColumnAndRowMajor) {
  const Literal columns = LinearizePadded(Matrix(), Layout3x5({0, 1})).value();
  EXPECT_EQ(Text(columns), "{1, 4, 0, 2, 5, 0, 3, 6, 0, 0, 0, 0, 0, 0, 0}");
  const Literal rows = LinearizePadded(Matrix(), Layout3x5({1, 0})).value();
  EXPECT_EQ(Text(rows), "{1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0}");
  EXPECT_TRUE(DelinearizePadded(columns, {2, 3}, Layout3x5({0, 1})).value() == Matrix());
}

TEST(PaddedLayoutTest, WrongLayoutsAreErrors) {
  PaddedLayout layout = Layout3x5({0, 0});
  EXPECT_FALSE(LinearizePadded(Matrix(), layout).ok());
  layout = Layout3x5({0, 1});
  layout.padded_dimensions = {3};
  EXPECT_FALSE(LinearizePadded(Matrix(), layout).ok());
  layout.padded_dimensions = {1, 5};
  EXPECT_FALSE(LinearizePadded(Matrix(), layout).ok());
  layout = Layout3x5({0, 1});
  layout.padding_value = Literal::R0<float>(0);
  EXPECT_FALSE(LinearizePadded(Matrix(), layout).ok());
  EXPECT_FALSE(DelinearizePadded(Matrix(), {2, 3}, Layout3x5({0, 1})).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
