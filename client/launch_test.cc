// Runs in the background: results before they are there, errors, layouts between executions.
#include <gtest/gtest.h>

#include <thread>

#include "client/client.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

constexpr char kTwice[] = R"(HloModule twice
ENTRY e {
  x = f32[4]{0} parameter(0)
  ROOT y = f32[4]{0} add(x, x)
})";

// Waits for its infeed.
constexpr char kFed[] = R"(HloModule fed
ENTRY e {
  t = token[] after-all()
  item = (f32[4]{0}, token[]) infeed(t)
  ROOT x = f32[4]{0} get-tuple-element(item), index=0
})";

// The transpose is free where the result may lie in columns.
constexpr char kColumns[] =
    R"(HloModule columns, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}
ENTRY e {
  x = f32[2,3]{1,0} parameter(0)
  y = f32[2,3]{1,0} add(x, x)
  ROOT c = f32[2,3]{0,1} copy(y)
})";
constexpr char kFromColumns[] =
    R"(HloModule from, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0}}
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  y = f32[2,3]{0,1} negate(x)
  ROOT c = f32[2,3]{1,0} copy(y)
})";

class LaunchTest : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<GlobalData> LaunchOne(const ProgramHandle& program,
                                        std::vector<const GlobalData*> arguments) {
    auto results = client_->Launch(program, {std::move(arguments)});
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? std::move(results->front()) : nullptr;
  }
  std::unique_ptr<Client> client_ = Client::Create(GetParam()).value();
};

TEST_P(LaunchTest, ResultsAreArgumentsBeforeTheyAreThere) {
  const ProgramHandle fed = client_->CompileText(kFed).value();
  const ProgramHandle twice = client_->CompileText(kTwice).value();
  auto x = LaunchOne(fed, {});
  auto y = LaunchOne(twice, {x.get()});
  const auto z = LaunchOne(twice, {y.get()});
  EXPECT_FALSE(z->ready().IsReady());
  EXPECT_EQ(Text(z->shape()), "f32[4]");
  x.reset();
  y.reset();
  EXPECT_TRUE(client_->TransferToInfeed(Literal::R1<float>({1, 2, 3, 4})).ok());
  EXPECT_TRUE(z->ready().Await().ok());
  EXPECT_EQ(Text(z->literal()), "{4, 8, 12, 16}");
  EXPECT_EQ(Text(client_->Transfer(*z).value()), "{4, 8, 12, 16}");
}

TEST_P(LaunchTest, ErrorsComeThroughAllThatWait) {
  const ProgramHandle fed = client_->CompileText(kFed).value();
  const ProgramHandle twice = client_->CompileText(kTwice).value();
  const auto x = LaunchOne(fed, {});
  const auto y = LaunchOne(twice, {x.get()});
  EXPECT_TRUE(client_->TransferToInfeed(Literal::R1<int32_t>({1})).ok());  // of another shape
  EXPECT_FALSE(y->ready().Await().ok());
  EXPECT_EQ(y->ready().Await(), x->ready().Await());
  EXPECT_FALSE(client_->Transfer(*y).ok());
  EXPECT_FALSE(client_->Execute(*twice, {y.get()}).ok());
  EXPECT_EQ(y->unshared_literal(), nullptr);
  EXPECT_FALSE(client_->Launch(twice, {{}}).ok());
  EXPECT_FALSE(client_->Launch(nullptr, {{}}).ok());
}

TEST_P(LaunchTest, ClientsWaitForTheirRuns) {
  const ProgramHandle fed = client_->CompileText(kFed).value();
  const auto x = LaunchOne(fed, {});
  client_.reset();  // closes the infeed
  EXPECT_FALSE(x->ready().Await().ok());
}

TEST_P(LaunchTest, ArraysStayInTheirLayoutBetweenExecutions) {
  const ProgramHandle columns = client_->CompileText(kColumns).value();
  const ProgramHandle from = client_->CompileText(kFromColumns).value();
  Literal literal(Shape::Array(ElementType::kF32, {2, 3}));
  for (int i = 0; i < 6; ++i) literal.as<float>()[i] = static_cast<float>(i);
  const auto x = client_->TransferToServer(literal).value();
  const auto y = client_->Execute(*columns, {x.get()}).value();
  EXPECT_EQ(Text(y->literal()), "{ { 0, 2, 4 }, { 6, 8, 10 } }");
  if (client_->capabilities().in_place_alignment > 0) {
    EXPECT_EQ(Text(y->value().leaves()[0].shape, true), "f32[2,3]{0,1}");
  }
  const auto z = client_->Execute(*from, {y.get()}).value();
  EXPECT_EQ(Text(z->literal()), "{ { -0, -2, -4 }, { -6, -8, -10 } }");
  EXPECT_EQ(static_cast<const float*>(y->elements())[1], 2);
  float out[6];
  EXPECT_TRUE(
      client_->TransferToHost(*y, Shape::ArrayWithLayout(ElementType::kF32, {2, 3}, {0, 1}), out)
          .ok());
  EXPECT_EQ(out[1], 6);
}

INSTANTIATE_TEST_SUITE_P(Platforms, LaunchTest, testing::Values("cpu", "interpreter"));

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
