// The oldest builder: its own forms, and how they differ from XlaBuilder's.
#include "client/computation_builder.h"

#include "client/c_api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

Shape F32(std::initializer_list<int64_t> dims) { return Shape::Array(ElementType::kF32, dims); }

class ComputationBuilderTest : public testing::Test {
 protected:
  // The value of what was built, or its error.
  std::string Value(ComputationBuilder& b) {
    const auto built = b.Build();
    if (!built.ok()) return built.status().ToString();
    const auto value = client_->ExecuteAndTransfer(**built, {});
    return value.ok() ? Text(*value) : value.status().ToString();
  }
  Client* client_ = ClientLibrary::ClientLibraryOrDie();
  ComputationBuilder b_{client_, "computation"};
};

TEST_F(ComputationBuilderTest, ReturnsWhatWasSet) {
  const auto one = b_.ConstantR0<float>(1);
  b_.ConstantR0<float>(2);
  EXPECT_EQ(b_.client(), client_);
  ASSERT_TRUE(b_.SetReturnValue(one).ok());
  b_.ConstantR0<float>(3);
  EXPECT_EQ(Value(b_), "1");
}

TEST_F(ComputationBuilderTest, ShapesAndConstants) {
  const auto sum = b_.Add(b_.ConstantR0<int32_t>(2), b_.ConstantR0<int32_t>(3));
  EXPECT_EQ(Text(*b_.GetShape(sum).value()), "s32[]");
  EXPECT_EQ(Text(b_.ComputeConstant(sum).value()->literal()), "5");
  EXPECT_FALSE(b_.ComputeConstant(b_.Parameter(0, F32({}), "x")).ok());
}

TEST_F(ComputationBuilderTest, ReshapeTakesAnOrder) {
  const auto cube = b_.Reshape(
      b_.ConvertElementType(b_.Iota(ElementType::kS32, 24), ElementType::kF32), {4, 2, 3});
  b_.Reshape(cube, {1, 2, 0}, {8, 3});
  EXPECT_THAT(Value(b_), HasSubstr("{ { 0, 6, 12 }, { 18, 1, 7 }, { 13, 19, 2 }"));
}

TEST_F(ComputationBuilderTest, CollapseJoinsDimensions) {
  const auto cube = b_.Reshape(b_.Iota(ElementType::kS32, 24), {4, 2, 3});
  EXPECT_EQ(Text(*b_.GetShape(b_.Collapse(cube, {0, 1})).value()), "s32[8,3]");
  EXPECT_EQ(Text(*b_.GetShape(b_.Collapse(cube, {1, 2})).value()), "s32[4,6]");
  EXPECT_FALSE(b_.Collapse(cube, {0, 2}).valid());
}

TEST_F(ComputationBuilderTest, BernoulliIsAlwaysOrNever) {
  const auto always =
      b_.RngBernoulli(b_.ConstantR0<float>(1), Shape::Array(ElementType::kU32, {3}));
  const auto never = b_.RngBernoulli(b_.ConstantR0<float>(0), Shape::Array(ElementType::kU32, {3}));
  b_.Tuple({always, never});
  EXPECT_EQ(Value(b_), "( {1, 1, 1}, {0, 0, 0} )");
}

TEST_F(ComputationBuilderTest, PowersAndSort) {
  const auto x = b_.ConstantR1<float>({4, 1, 16});
  b_.Tuple({b_.SqrtF32(x), b_.SquareF32(x), b_.ReciprocalF32(x), b_.Sort(x)});
  EXPECT_EQ(Value(b_), "( {2, 1, 4}, {16, 1, 256}, {0.25, 1, 0.0625}, {1, 4, 16} )");
}

TEST_F(ComputationBuilderTest, MapTakesStaticOperands) {
  const auto sub = b_.CreateSubBuilder("mul_add");
  const auto x = sub->Parameter(0, F32({}), "x");
  sub->Add(sub->Mul(x, x), sub->Parameter(1, F32({}), "y"));
  const auto function = sub->BuildAndNoteError();
  b_.Map({b_.ConstantR1<float>({1, 2, 3})}, *function, {b_.ConstantR0<float>(10)});
  EXPECT_EQ(Value(b_), "{11, 14, 19}");
}

TEST_F(ComputationBuilderTest, ConvolutionNumbers) {
  EXPECT_TRUE(ComputationBuilder::CreateConvDimensionNumbers(0, 1, 2, 3, 0, 1, 2, 3).value() ==
              ComputationBuilder::CreateDefaultConvDimensionNumbers());
  EXPECT_FALSE(ComputationBuilder::CreateConvDimensionNumbers(0, 0, 2, 3, 0, 1, 2, 3).ok());
  EXPECT_FALSE(ComputationBuilder::CreateConvDimensionNumbers(0, 1, 2, 3, 0, 1, 1, 3).ok());
  b_.Conv(b_.ConstantR4FromArray4D(Array4D<float>({1, 1, 3, 3}, 1)),
          b_.ConstantR4FromArray4D(Array4D<float>({1, 1, 2, 2}, 1)), {1, 1}, Padding::kValid);
  EXPECT_THAT(Value(b_), HasSubstr("4, 4"));
}

TEST_F(ComputationBuilderTest, UnorderedInfeedsAreErrors) {
  b_.Add(b_.Infeed(F32({2})), b_.Infeed(F32({2})));
  EXPECT_THAT(b_.Build().status().ToString(), HasSubstr("no order"));
}

TEST_F(ComputationBuilderTest, ErrorsOfSubBuildersReachTheParent) {
  const auto sub = b_.CreateSubBuilder("sub");
  sub->Add(sub->Parameter(0, F32({2}), "x"), sub->Parameter(1, F32({3}), "y"));
  EXPECT_TRUE(sub->BuildAndNoteError()->IsNull());
  EXPECT_FALSE(b_.Build().ok());
}

TEST(CApiTest, CompilesRunsAndExplains) {
  hlokit_client* client = nullptr;
  ASSERT_EQ(hlokit_client_create("cpu", &client), nullptr);
  hlokit_program* program = nullptr;
  hlokit_error* error =
      hlokit_compile_text(client, "ENTRY e { ROOT x = f32[2] add() }", nullptr, &program);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(hlokit_error_code(error), 3);
  EXPECT_THAT(hlokit_error_message(error), HasSubstr("add"));
  hlokit_error_free(error);
  const char* text =
      "ENTRY e { x = f32[2] parameter(0)\n n = f32[2] negate(x)\n ROOT t = (f32[2], f32[2]) "
      "tuple(n, x) }";
  const hlokit_compile_options options = HLOKIT_COMPILE_OPTIONS_INIT;
  ASSERT_EQ(hlokit_compile_text(client, text, &options, &program), nullptr);
  EXPECT_EQ(hlokit_program_parameter_count(program), 1);
  EXPECT_STREQ(hlokit_program_parameter_shape(program, 0), "f32[2]{0}");
  EXPECT_EQ(hlokit_program_parameter_shape(program, 1), nullptr);
  const float elements[] = {1, 2};
  hlokit_buffer *x = nullptr, *result = nullptr, *negated = nullptr;
  error = hlokit_buffer_from_host(client, "f32[2]", elements, 4, &x);
  ASSERT_NE(error, nullptr);
  hlokit_error_free(error);
  ASSERT_EQ(hlokit_buffer_from_host(client, "f32[2]", elements, 8, &x), nullptr);
  hlokit_pending* pending = nullptr;
  ASSERT_EQ(hlokit_execute_async(program, &x, 1, &pending), nullptr);
  ASSERT_EQ(hlokit_pending_wait(pending, &result), nullptr);
  EXPECT_EQ(hlokit_buffer_tuple_size(result), 2);
  EXPECT_EQ(hlokit_buffer_data(result), nullptr);
  ASSERT_EQ(hlokit_buffer_tuple_element(result, 0, &negated), nullptr);
  EXPECT_EQ(static_cast<const float*>(hlokit_buffer_data(negated))[1], -2);
  char* bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(hlokit_program_serialize(program, &bytes, &size), nullptr);
  hlokit_program* loaded = nullptr;
  ASSERT_EQ(hlokit_program_load(client, bytes, size, &loaded), nullptr);
  hlokit_bytes_free(bytes);
  hlokit_program_free(loaded);
  for (hlokit_buffer* buffer : {x, result, negated}) hlokit_buffer_free(buffer);
  hlokit_program_free(program);
  hlokit_client_free(client);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
