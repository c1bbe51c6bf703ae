// Shapes: text, sizes, comparison, walks.
#include "types/shape.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

using T = ElementType;

Shape Dynamic(Shape shape, int d) {
  shape.SetDynamic(d, true);
  return shape;
}

Shape With(const LayoutExtras& extras, Shape shape) {
  shape = shape.WithDefaultLayout();
  shape.layout.extras = std::make_shared<LayoutExtras>(extras);
  return shape;
}

TEST(ElementType, TextsAndNumbers) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<T>(i);
    if (type == T::kTuple || type == T::kBuffer) continue;
    EXPECT_EQ(ElementTypeFromText(Text(type)), type) << i;
  }
  for (const char* none : {"", "f", "tuple", "buffer", "b", "invalid", "F32", "f32 "})
    EXPECT_FALSE(ElementTypeFromText(none).has_value()) << none;
  EXPECT_EQ(static_cast<int>(T::kF8E8M0FNU), 33);
  EXPECT_EQ(ByteWidth(T::kS4), 1);
  EXPECT_EQ(ByteWidth(T::kC128), 16);
  EXPECT_EQ(RealComponent(T::kC64), T::kF32);
  EXPECT_EQ(ComplexOf(T::kF64), T::kC128);
  EXPECT_EQ(ComplexOf(T::kF16), T::kInvalid);
}

TEST(Shape, Text) {
  const Shape f2 = Shape::Array(T::kF32, {2});
  const std::vector<Shape> seven(7, Shape::Scalar(T::kS4));
  struct Case {
    Shape shape;
    const char *plain, *with_layout;
  };
  for (const Case& c : {
           Case{Shape(), "invalid", "invalid"},
           {Shape::Scalar(T::kF32), "f32[]", "f32[]"},
           {Shape::Scalar(T::kF32).WithDefaultLayout(), "f32[]", "f32[]"},
           {f2, "f32[2]", "f32[2]"},
           {f2.WithDefaultLayout(), "f32[2]", "f32[2]{0}"},
           {Shape::ArrayWithLayout(T::kBF16, {2, 300, 4}, {0, 2, 1}), "bf16[2,300,4]",
            "bf16[2,300,4]{0,2,1}"},
           {Dynamic(Shape::Array(T::kS8, {2, 3}), 1), "s8[2,<=3]", "s8[2,<=3]"},
           {Shape::Array(T::kPred, {kUnbounded, 5}), "pred[?,5]", "pred[?,5]"},
           {Shape::Token(), "token[]", "token[]"},
           {Shape::Opaque(), "opaque[]", "opaque[]"},
           {Shape::Buffer(f2.WithDefaultLayout()), "b(f32[2])", "b(f32[2]{0})"},
           {Shape::Tuple({}), "()", "()"},
           {Shape::Tuple({f2.WithDefaultLayout(), Shape::Tuple({f2})}), "(f32[2], (f32[2]))",
            "(f32[2]{0}, (f32[2]))"},
           {Shape::Tuple(seven), "(s4[], s4[], s4[], s4[], s4[], /*index=5*/s4[], s4[])",
            "(s4[], s4[], s4[], s4[], s4[], /*index=5*/s4[], s4[])"},
       }) {
    EXPECT_EQ(Text(c.shape), c.plain);
    EXPECT_EQ(Text(c.shape, true), c.with_layout);
  }
}

// The order that XLA prints the parts in; each alone and all together.
TEST(Shape, LayoutText) {
  LayoutExtras all;
  const auto expect = [&all](auto set, const char* text) {
    LayoutExtras one;
    set(one);
    set(all);
    EXPECT_EQ(Text(With(one, Shape::Array(T::kF32, {2})), true),
              "f32[2]{0:" + std::string(text) + "}");
    EXPECT_NE(With(one, Shape::Array(T::kF32, {2})), With({}, Shape::Array(T::kF32, {2}))) << text;
  };
  expect([](LayoutExtras& e) { e.dynamic_metadata_bytes = 8; }, "M(8)");
  expect(
      [](LayoutExtras& e) {
        e.physical = std::make_shared<Shape>(Shape::Array(T::kU8, {7}).WithDefaultLayout());
      },
      "P(u8[7]{0})");
  expect([](LayoutExtras& e) { e.splits = {{0, {1, 2}}, {1, {}}}; }, "SC(0:1,2)(1:)");
  expect([](LayoutExtras& e) { e.memory_space = 1; }, "S(1)");
  expect([](LayoutExtras& e) { e.element_size_in_bits = 4; }, "E(4)");
  expect([](LayoutExtras& e) { e.pointer_type = T::kS32; }, "*(s32)");
  expect([](LayoutExtras& e) { e.index_type = T::kU32; }, "#(u32)");
  expect([](LayoutExtras& e) { e.tail_padding_alignment = 2; }, "L(2)");
  expect(
      [](LayoutExtras& e) {
        e.tiles = {{8, 128}, {2, LayoutExtras::kCombine}};
      },
      "T(8,128)(2,*)");
  EXPECT_EQ(Text(With(all, Shape::Scalar(T::kF32)), true),
            "f32[]{:T(8,128)(2,*)L(2)#(u32)*(s32)E(4)S(1)SC(0:1,2)(1:)P(u8[7]{0})M(8)}");
  EXPECT_EQ(Text(With({}, Shape::Array(T::kF32, {2})), true), "f32[2]{0}");
}

TEST(Shape, Sizes) {
  EXPECT_EQ(Shape::Array(T::kS4, {3, 5}).ByteSize(), 15);
  EXPECT_EQ(Shape::Scalar(T::kC64).ByteSize(), 8);
  EXPECT_EQ(Shape::Array(T::kF32, {int64_t{1} << 40, 0}).ElementCount(), 0);
  EXPECT_EQ(Shape::Array(T::kF32, {int64_t{1} << 40, int64_t{1} << 40}).ElementCount(), INT64_MAX);
  EXPECT_EQ(Shape::Array(T::kF32, {kUnbounded}).ElementCount(), INT64_MAX);
}

TEST(Shape, Comparison) {
  const Shape a = Shape::Array(T::kF32, {2, 3}), dynamic = Dynamic(a, 1),
              swapped = Shape::ArrayWithLayout(T::kF32, {2, 3}, {0, 1});
  EXPECT_NE(a, swapped);
  EXPECT_TRUE(SameIgnoringLayout(a, swapped));
  EXPECT_FALSE(SameIgnoringLayout(a, dynamic));
  EXPECT_TRUE(Compatible(a, dynamic));
  EXPECT_TRUE(Compatible(a, Shape::Array(T::kF32, {kUnbounded, 3})));
  EXPECT_FALSE(Compatible(Shape::Tuple({a}), Shape::Tuple({a, a})));
  EXPECT_FALSE(Compatible(a, a.WithType(T::kS32)));
  EXPECT_EQ(swapped.WithoutLayout(), a);
  EXPECT_FALSE(swapped.IsRowMajor());
  EXPECT_TRUE(swapped.WithDefaultLayout().IsRowMajor());
}

TEST(Shape, LeavesAndStrides) {
  const Shape a = Shape::Array(T::kF32, {2, 3}),
              tuple = Shape::Tuple({a, Shape::Tuple({Shape::Token(), a})});
  const std::vector<ShapeLeaf> leaves = Leaves(tuple);
  ASSERT_EQ(leaves.size(), 3u);
  EXPECT_EQ(leaves[2].index, (ShapeIndex{1, 1}));
  EXPECT_EQ(SubShape(tuple, leaves[1].index), leaves[1].shape);
  EXPECT_EQ(SubShape(tuple, {2}), nullptr);
  EXPECT_EQ(RowMajorStrides({2, 3, 4}), (DimVector{12, 4, 1}));
  EXPECT_EQ(LayoutStrides(Shape::ArrayWithLayout(T::kF32, {2, 3, 4}, {0, 2, 1})),
            (DimVector{1, 8, 2}));
  std::vector<DimVector> seen;
  ForEachIndex({2, 2}, [&](absl::Span<const int64_t> index) {
    seen.emplace_back(index.begin(), index.end());
  });
  EXPECT_EQ(seen, (std::vector<DimVector>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  int calls = 0;
  ForEachIndex({}, [&](absl::Span<const int64_t>) { ++calls; });
  ForEachIndex({3, 0}, [&](absl::Span<const int64_t>) { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
