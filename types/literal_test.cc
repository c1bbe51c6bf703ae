// Literals: element access, layouts, and their text as XLA prints it.
#include "types/literal.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

using T = ElementType;

Literal Iota(T type, absl::Span<const int64_t> dims) {
  Literal literal(Shape::Array(type, dims));
  for (int64_t i = 0; i < literal.element_count(); ++i)
    literal.SetComplex(i, static_cast<double>(i));
  return literal;
}

// Of any type, by value.
Literal Vector(T type, const std::vector<double>& values) {
  Literal literal(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    if (IsFloat(type))
      literal.SetDouble(i, values[i]);
    else
      literal.SetInt(i, static_cast<int64_t>(values[i]));
  }
  return literal;
}

std::string ElementText(T type, uint64_t bits) {
  Literal literal{Shape::Scalar(type)};
  std::memcpy(literal.data(), &bits, ByteWidth(type));
  return Text(literal);
}

TEST(Literal, ElementsKeepTheirWidth) {
  struct Case {
    T type;
    int64_t stored, read;
  };
  for (const Case& c : {Case{T::kPred, 7, 1},
                        {T::kS1, 1, -1},
                        {T::kU1, 3, 1},
                        {T::kS2, 2, -2},
                        {T::kU2, 7, 3},
                        {T::kS4, 9, -7},
                        {T::kU4, -1, 15},
                        {T::kS8, 200, -56},
                        {T::kU8, -1, 255},
                        {T::kS16, 1 << 15, -(1 << 15)},
                        {T::kU16, -1, 65535},
                        {T::kS32, int64_t{1} << 31, -(int64_t{1} << 31)},
                        {T::kU32, -1, 0xffffffff},
                        {T::kS64, INT64_MIN, INT64_MIN},
                        {T::kU64, -1, -1}}) {
    Literal literal(Shape::Array(c.type, {3}));
    literal.SetInt(1, c.stored);
    EXPECT_EQ(literal.GetInt(1), c.read) << Text(c.type);
    EXPECT_EQ(literal.GetInt(0), 0) << Text(c.type);
    EXPECT_EQ(literal.GetInt(2), 0) << Text(c.type);
  }
  Literal big = Literal::R0<uint64_t>(UINT64_MAX);
  EXPECT_EQ(big.GetDouble(0), 18446744073709551616.0);
  for (T type : {T::kF16, T::kBF16, T::kF32, T::kF64, T::kF8E5M2, T::kF8E3M4, T::kF4E2M1FN}) {
    const Literal halves = Vector(type, {0.5, -1.5, 3});
    EXPECT_EQ(halves.GetDouble(0) + halves.GetDouble(1) * 10 + halves.GetDouble(2) * 100, 285.5)
        << Text(type);
  }
  EXPECT_EQ(Iota(T::kC128, {4}).GetComplex(3), std::complex<double>(3, 0));
}

// Compiled code reads whole vectors: aligned, and as many bytes behind the last element as a vector
// has.
TEST(Literal, ElementsAreAlignedWhateverTheirNumber) {
  std::vector<Literal> kept;
  for (int64_t size = 0; size < 80000; size += 1 + size / 10) {
    Literal literal(Shape::Array(T::kU8, {size}));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(literal.data()) % 64, 0u) << size;
    for (int64_t i = 0; i < size + 64; ++i) {
      ASSERT_EQ(literal.data()[i], 0) << size;
      literal.data()[i] = 1;
    }
    const Literal copy = literal;
    ASSERT_EQ(reinterpret_cast<uintptr_t>(copy.data()) % 64, 0u) << size;
    if (size % 3 == 0) kept.push_back(std::move(literal));  // the rest is freed, and given again
  }
}

TEST(Literal, TuplesCopyAndCompare) {
  Literal tuple = Literal::Tuple(
      {Literal::R1<float>({1, 2}), Literal::Tuple({Literal::R0(true), Literal::Token()})});
  Literal copy = tuple;
  EXPECT_EQ(copy, tuple);
  copy.at({1, 0}).SetInt(0, 0);
  EXPECT_FALSE(copy == tuple);
  EXPECT_EQ(tuple.at({1, 0}).GetInt(0), 1);
  EXPECT_FALSE(Literal::R1<float>({1}) == Literal::R1<float>({2}));
  EXPECT_FALSE(Literal::R1<float>({1}) == Literal::R0<float>(1));
}

TEST(Literal, LayoutsThereAndBack) {
  for (T type : {T::kU8, T::kBF16, T::kF32, T::kF64, T::kC128}) {
    const Literal source = Iota(type, {2, 3, 4});
    const Shape shape = Shape::ArrayWithLayout(type, {2, 3, 4}, {1, 0, 2});
    std::vector<uint8_t> memory(source.byte_size());
    ToLayout(source, shape, memory.data());
    Literal placed(Shape::Array(type, {4, 2, 3}));  // the memory order of that layout
    std::memcpy(placed.data(), memory.data(), memory.size());
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 4; ++k)
          EXPECT_EQ(placed.GetComplex(placed.LinearIndex({k, i, j})),
                    source.GetComplex(source.LinearIndex({i, j, k})));
    Literal back(source.shape());
    FromLayout(memory.data(), shape, back);
    EXPECT_EQ(back, source) << Text(type);
  }
}

// Values from XLA itself (jaxlib 0.10.2).
TEST(LiteralText, Elements) {
  struct Case {
    T type;
    uint64_t bits;
    const char* text;
  };
  for (const Case& c : {
           Case{T::kF32, 0x3f800000, "1"},
           {T::kF32, 0x80000000, "-0"},
           {T::kF32, 0x3e000000, "0.125"},
           {T::kF32, 0x358637bd, "1e-06"},
           {T::kF32, 0x40490fdb, "3.14159274"},
           {T::kF32, 0x00800000, "1.17549435e-38"},
           {T::kF32, 1, "1.4013e-45"},
           {T::kF32, 0x49742400, "1e+06"},
           {T::kF32, 0x497423f0, "999999"},
           {T::kF32, 0x4cbebc20, "1e+08"},
           {T::kF32, 0x4b7fffff, "16777215"},
           {T::kF32, 0xff800000, "-inf"},
           {T::kF32, 0x7fc00000, "nan"},
           {T::kF32, 0xffc00000, "-nan"},
           {T::kF32, 0x7f800001, "nan(0x1)"},
           {T::kF32, 0xffffffff, "-nan(0x7fffff)"},
           {T::kF64, 0x3fb999999999999a, "0.1"},
           {T::kF64, 0x400921fb54442d18, "3.1415926535897931"},
           {T::kF64, 0x7ff8000000000001, "nan(0x8000000000001)"},
           {T::kF16, 0x2e66, "0.099976"},
           {T::kF16, 1, "5.9605e-08"},
           {T::kF16, 0x7c01, "nan(0x1)"},
           {T::kBF16, 0x3dcd, "0.1001"},
           {T::kBF16, 1, "9.184e-41"},
           {T::kBF16, 0x4980, "1.049e+06"},
           {T::kF8E5M2, 1, "1.5e-05"},
           {T::kF8E5M2, 0x7e, "nan"},
           {T::kF8E5M2, 0x7d, "nan(0x1)"},
           {T::kF8E5M2, 0x7b, "5.7e+04"},
           {T::kF8E4M3FN, 1, "0.00195"},
           {T::kF8E4M3FN, 0xff, "-nan"},
           {T::kF8E4M3, 0x7d, "nan(0x5)"},
           {T::kF8E4M3FNUZ, 0x80, "-nan"},
           {T::kF8E3M4, 1, "0.0156"},
           {T::kF4E2M1FN, 1, "0.5"},
           {T::kF4E2M1FN, 0xe, "-4"},
           {T::kF8E8M0FNU, 0, "5.9e-39"},
           {T::kF8E8M0FNU, 0xff, "nan"},
           {T::kPred, 1, "true"},
           {T::kS8, 0xff, "-1"},
           {T::kU64, ~uint64_t{0}, "18446744073709551615"},
           {T::kS64, uint64_t{1} << 63, "-9223372036854775808"},
           {T::kC64, 0xff8000003f800000, "(1, -inf)"},
       }) {
    EXPECT_EQ(ElementText(c.type, c.bits), c.text) << Text(c.type) << " " << c.bits;
  }
}

TEST(LiteralText, Braces) {
  const Literal vector = Vector(T::kF32, {1, 2.5});
  struct Case {
    Literal literal;
    const char* text;
  };
  for (const Case& c : {
           Case{vector, "{1, 2.5}"},
           {Vector(T::kPred, {1, 0}), "{1, 0}"},
           {Vector(T::kS4, {-1, 7}), "{-1, 7}"},
           {Iota(T::kS32, {0}), "{}"},
           {Iota(T::kS32, {2, 2}), "{ { 0, 1 }, { 2, 3 } }"},
           {Iota(T::kS32, {2, 1}), "{ {0}, {1} }"},
           {Iota(T::kS32, {2, 0}), "{ {}, {} }"},
           {Iota(T::kS32, {0, 2}), "{  }"},
           {Iota(T::kS32, {1, 2, 2}), "{ { { 0, 1 }, { 2, 3 } } }"},
           {Iota(T::kS32, {1, 2, 1, 2}),
            "{ { /*i0=0*/ { /*i1=0*/ { 0, 1 } }, { /*i1=1*/ { 2, 3 } } } }"},
           {Iota(T::kS32, {2, 0, 2, 1}), "{ { /*i0=0*/ }, { /*i0=1*/ } }"},
           {Iota(T::kS32, {int64_t{1} << 40, 0}), "{...}"},
           {Iota(T::kC64, {2}), "{(0, 0), (1, 0)}"},
           {Literal::Tuple({}), "(  )"},
           {Literal::Tuple({vector, Literal::Tuple({Literal::R0(true), Literal::Token()})}),
            "( {1, 2.5}, ( true, token ) )"},
       }) {
    EXPECT_EQ(Text(c.literal), c.text);
  }
}

// A deferred array's bytes are kept until it is read, and a copy that is written to is its own.
TEST(LiteralTest, DeferredArrays) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::vector<uint8_t>{1, 0, 2, 0, 3, 0});
  const Shape shape = Shape::Array(T::kU16, {3});
  const Literal literal = Literal::Deferred(shape, owner->data(), owner);
  Literal copy = literal;
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(literal, Literal::R1<uint16_t>({1, 2, 3}));
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(copy.GetInt(2), 3);
  copy.SetInt(2, 7);
  EXPECT_EQ(copy, Literal::R1<uint16_t>({1, 2, 7}));
  EXPECT_EQ(literal.GetInt(2), 3);
  Literal written = Literal::Deferred(shape, owner->data(), owner);
  written.as<uint16_t>()[0] = 9;
  EXPECT_EQ(written, Literal::R1<uint16_t>({9, 2, 3}));
  EXPECT_EQ((*owner)[0], 1);
}

TEST(LiteralTest, DeferredArraysFromManyThreads) {
  const auto owner = std::make_shared<const std::vector<uint8_t>>(1 << 20, uint8_t{5});
  const Literal literal = Literal::Deferred(Shape::Array(T::kU8, {1 << 20}), owner->data(), owner);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { wrong += literal.data()[(i + 1) * 1000] != 5; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(LiteralText, Options) {
  const Literal ten = Iota(T::kS8, {10}), eleven = Iota(T::kS8, {11});
  EXPECT_EQ(Text(ten, {.elide_above = 10}), Text(ten));
  EXPECT_EQ(Text(eleven, {.elide_above = 10}), "{...}");
  EXPECT_EQ(Text(Literal::Tuple({ten}), {.elide_above = 10}), "{...}");
  Literal matrix = Iota(T::kF32, {2, 2});
  matrix.set_shape(matrix.shape().WithDefaultLayout());
  EXPECT_EQ(Text(matrix, {.with_shape = true}), "f32[2,2]{1,0} { { 0, 1 }, { 2, 3 } }");
  EXPECT_EQ(Text(matrix, {.with_shape = true, .with_layout = false, .one_line = false}),
            "f32[2,2] {\n  { 0, 1 },\n  { 2, 3 }\n}");
  EXPECT_EQ(Text(Literal::Tuple({Literal::R0(1.5f), matrix}),
                 {.with_shape = true, .with_layout = false, .one_line = false}),
            "(\nf32[] 1.5,\nf32[2,2] {\n  { 0, 1 },\n  { 2, 3 }\n}\n)");
  Shape bounded = Shape::Array(T::kF32, {4});
  bounded.SetDynamic(0, true);
  Literal dynamic(bounded);
  dynamic.set_dynamic_size(0, 2);
  EXPECT_EQ(Text(dynamic, {.with_shape = true}), "f32[<=4](2) {0, 0}");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
