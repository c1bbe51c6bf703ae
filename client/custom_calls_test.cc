// Custom calls of the program itself, and that only the chosen branch of a conditional calls.
#include "builder/builder.h"
#include "client/c_api.h"
#include "client/client.h"
#include "ffi/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

Shape F32(std::initializer_list<int64_t> dims) { return Shape::Array(ElementType::kF32, dims); }

// The example of XLA's page: reads f32[2] and f32[2,3], writes one element of f32[3,3].
void FromThePage(void* out, const void** in) {
  const auto& x = *static_cast<const float(*)[2]>(in[0]);
  const auto& y = *static_cast<const float(*)[2][3]>(in[1]);
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(y[0][0], 10);
  EXPECT_EQ(y[0][2], 30);
  EXPECT_EQ(y[1][2], 60);
  auto& z = *static_cast<float(*)[3][3]>(out);
  z[0][0] = x[1] + y[1][0];
}

// (f32[2], s32[]) -> (s32[], f32[2]): tuples are tables of pointers.
void Swap(void* out, const void** in) {
  const auto* const* pair = static_cast<const void* const*>(in[0]);
  auto* const* results = static_cast<void* const*>(out);
  *static_cast<int32_t*>(results[0]) = *static_cast<const int32_t*>(pair[1]) + 1;
  for (int i = 0; i < 2; ++i)
    static_cast<float*>(results[1])[i] = -static_cast<const float*>(pair[0])[i];
}

int left_calls = 0, right_calls = 0;
void Left(void* out, const void** in) {
  ++left_calls;
  *static_cast<float*>(out) = *static_cast<const float*>(in[0]) + 1;
}
void Right(void* out, const void** in) {
  ++right_calls;
  *static_cast<float*>(out) = *static_cast<const float*>(in[0]) - 1;
}

class CustomCallsTest : public testing::TestWithParam<const char*> {
 protected:
  absl::StatusOr<Literal> Run(XlaBuilder& b) {
    ASSIGN_OR_RETURN(const XlaComputation computation, b.Build());
    return client_->ExecuteAndTransfer(computation, {});
  }
  std::unique_ptr<Client> client_ = Client::Create(GetParam()).value();
};

INSTANTIATE_TEST_SUITE_P(Platforms, CustomCallsTest, testing::Values("cpu", "interpreter"));

TEST_P(CustomCallsTest, FunctionsOfTheProgramAreCalled) {
  ASSERT_TRUE(RegisterCustomCall("from_the_page", FromThePage).ok());
  XlaBuilder b("page");
  const XlaOp x = ConstantR1<float>(&b, {1, 2});
  const XlaOp y = ConstantR2<float>(&b, {{10, 20, 30}, {40, 50, 60}});
  Slice(CustomCall(&b, "from_the_page", {x, y}, F32({3, 3})), {0, 0}, {1, 1}, {1, 1});
  EXPECT_EQ(Text(Run(b).value()), "{ {42} }");
}

TEST_P(CustomCallsTest, TuplesAreTablesOfPointers) {
  ASSERT_TRUE(RegisterCustomCall("swap_pair", Swap).ok());
  XlaBuilder b("swap");
  const XlaOp pair = Tuple(&b, {ConstantR1<float>(&b, {1, 2}), ConstantR0<int32_t>(&b, 6)});
  CustomCall(&b, "swap_pair", {pair}, Shape::Tuple({Shape::Scalar(ElementType::kS32), F32({2})}));
  EXPECT_EQ(Text(Run(b).value()), "( 7, {-1, -2} )");
}

TEST_P(CustomCallsTest, TargetsThatNobodyHasAreErrors) {
  XlaBuilder b("unknown");
  CustomCall(&b, "nobody_has_this", {ConstantR0<float>(&b, 1)}, F32({}));
  const auto result = Run(b);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("nobody_has_this"));
}

TEST_P(CustomCallsTest, OnlyTheChosenBranchRuns) {
  ASSERT_TRUE(RegisterCustomCall("left_branch", Left).ok());
  ASSERT_TRUE(RegisterCustomCall("right_branch", Right).ok());
  const auto branch = [](const char* target) {
    XlaBuilder b(target);
    CustomCall(&b, target, {Parameter(&b, 0, F32({}), "x")}, F32({}), "", true);
    return b.Build().value();
  };
  const XlaComputation left = branch("left_branch"), right = branch("right_branch");
  left_calls = right_calls = 0;
  // By a number, which is out of range in the end, and by a predicate.
  for (const int32_t index : {0, 1, -3, 9}) {
    XlaBuilder b("chosen");
    const XlaOp x = ConstantR0<float>(&b, 5);
    Conditional(ConstantR0<int32_t>(&b, index), {&left, &right}, {x, x});
    EXPECT_EQ(Text(Run(b).value()), index == 0 ? "6" : "4") << index;
  }
  EXPECT_EQ(left_calls, 1);
  EXPECT_EQ(right_calls, 3);
  XlaBuilder b("predicate");
  const XlaOp x = ConstantR0<float>(&b, 5);
  Conditional(ConstantR0<bool>(&b, true), x, left, x, right);
  EXPECT_EQ(Text(Run(b).value()), "6");
  EXPECT_EQ(left_calls, 2);
  EXPECT_EQ(right_calls, 3);
}

TEST(RegisterCustomCallTest, ATargetHasOneFunction) {
  ASSERT_TRUE(RegisterCustomCall("only_left", Left).ok());
  EXPECT_TRUE(RegisterCustomCall("only_left", Left).ok());
  EXPECT_EQ(RegisterCustomCall("only_left", Right).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_FALSE(RegisterCustomCall("nothing", PlainCustomCall{}).ok());
  hlokit_error* error = hlokit_register_custom_call("only_left", Right);
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(hlokit_error_message(error), HasSubstr("only_left"));
  hlokit_error_free(error);
  error = hlokit_load_custom_calls("/nonexistent/library.so");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(hlokit_error_code(error), 5);
  hlokit_error_free(error);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
