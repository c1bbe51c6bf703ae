// Device memory, views of it, and values: taken over, shared, taken apart, brought back.
#include "backends/buffer.h"

#include <cstring>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

constexpr ElementType kF32 = ElementType::kF32;

Literal Count(int64_t n) {
  Literal literal(Shape::Array(kF32, {n}));
  for (int64_t i = 0; i < n; ++i) literal.as<float>()[i] = static_cast<float>(i);
  return literal;
}

TEST(HostDeviceTest, CopiesInAndOutWithinItsMemory) {
  HostDevice host;
  const std::shared_ptr<DeviceMemory> memory = host.Allocate(16).value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->address()) % 64, 0u);
  EXPECT_TRUE(memory->CopyIn("0123456789abcdef", 0, 16).ok());
  EXPECT_TRUE(memory->CopyIn("xy", 3, 2).ok());
  char out[17] = {};
  EXPECT_TRUE(memory->CopyOut(0, 16, out).ok());
  EXPECT_STREQ(out, "012xy56789abcdef");
  EXPECT_FALSE(memory->CopyOut(1, 16, out).ok());
  EXPECT_FALSE(memory->CopyIn(out, -1, 1).ok());
  EXPECT_EQ(host.Allocate(0).value()->address(), nullptr);
}

TEST(HostDeviceTest, ViewsAndBorrowedMemoryAreNotCopied) {
  HostDevice host;
  alignas(64) char bytes[64] = {};
  bool released = false;
  {
    const std::shared_ptr<const void> owner(bytes, [&](const void*) { released = true; });
    std::shared_ptr<DeviceMemory> whole = host.Borrow(owner, bytes, sizeof bytes).value();
    EXPECT_FALSE(ViewOf(whole, 60, 5).ok());
    const std::shared_ptr<DeviceMemory> view = ViewOf(std::move(whole), 8, 4).value();
    EXPECT_EQ(view->address(), bytes + 8);
    EXPECT_EQ(view->host_address(), bytes + 8);
    EXPECT_TRUE(view->CopyIn("abcd", 0, 4).ok());
    EXPECT_FALSE(view->CopyIn("abcd", 1, 4).ok());
  }
  EXPECT_EQ(std::string(bytes + 8, 4), "abcd");
  EXPECT_TRUE(released);
}

TEST(DeviceValueTest, TakesALiteralOverWithoutACopy) {
  Literal literal = Count(9);
  const void* const place = literal.data();
  DeviceValue value = DeviceValue::TakeOver(std::move(literal));
  ASSERT_EQ(value.leaves().size(), 1u);
  EXPECT_EQ(value.leaves()[0].memory->address(), place);
  EXPECT_EQ(value.host_literal()->data(), place);
  EXPECT_TRUE(value.ToHost().value() == Count(9));
}

TEST(DeviceValueTest, IsWrittenOverOnlyWhereNobodyElseHoldsIt) {
  DeviceValue value = DeviceValue::TakeOver(Count(3));
  EXPECT_NE(value.unshared_literal(), nullptr);
  {
    const DeviceValue copy = value;
    EXPECT_EQ(value.unshared_literal(), nullptr);
  }
  {
    const std::shared_ptr<DeviceMemory> memory = value.leaves()[0].memory;
    EXPECT_EQ(value.unshared_literal(), nullptr);
  }
  {
    const std::shared_ptr<const Literal> literal = value.host_literal();
    EXPECT_EQ(value.unshared_literal(), nullptr);
  }
  EXPECT_NE(value.unshared_literal(), nullptr);
  EXPECT_EQ(DeviceValue::Share(std::make_shared<Literal>(Count(3))).unshared_literal(), nullptr);
}

TEST(DeviceValueTest, ElementsShareTheTuplesMemory) {
  std::vector<Literal> parts;
  parts.push_back(Count(2));
  std::vector<Literal> inner;
  inner.push_back(Literal::Token());
  inner.push_back(Count(4));
  parts.push_back(Literal::Tuple(std::move(inner)));
  DeviceValue tuple = DeviceValue::TakeOver(Literal::Tuple(std::move(parts)));
  EXPECT_EQ(tuple.leaves().size(), 3u);
  EXPECT_EQ(tuple.leaves()[1].memory, nullptr);
  EXPECT_NE(tuple.unshared_literal(), nullptr);
  const DeviceValue array = tuple.Element(1).Element(1);
  EXPECT_EQ(array.leaves()[0].memory, tuple.leaves()[2].memory);
  EXPECT_TRUE(array.ToHost().value() == Count(4));
  EXPECT_EQ(tuple.unshared_literal(), nullptr);
}

TEST(DeviceValueTest, LayoutsAreConvertedOnTheWayBack) {
  const Shape columns = Shape::ArrayWithLayout(kF32, {2, 3}, {0, 1});
  Literal raw = Literal::Unset(columns);
  const float elements[] = {1, 4, 2, 5, 3, 6};
  std::memcpy(raw.data(), elements, sizeof elements);
  const DeviceValue value = DeviceValue::TakeOver(std::move(raw), /*in_layout=*/true);
  EXPECT_EQ(value.host_literal(), nullptr);
  const Literal back = value.ToHost().value();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(back.as<float>()[i], i + 1);
}

TEST(DeviceValueTest, CopiesKeepDynamicSizes) {
  HostDevice host;
  Shape shape = Shape::Array(kF32, {4});
  shape.dynamic_mask = 1;
  Literal literal(shape);
  literal.set_dynamic_size(0, 3);
  const DeviceValue copy = DeviceValue::CopyTo(host, literal).value();
  EXPECT_EQ(copy.leaves()[0].dynamic_sizes, (DimVector{3}));
  EXPECT_EQ(copy.ToHost().value().dynamic_size(0), 3);
  EXPECT_FALSE(DeviceValue().ToHost().ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
