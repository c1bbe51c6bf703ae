// Weights that several runs have in common are packed once, and given up where they are deleted.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/client.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

// 64 rows times 512 x 1024 weights.
constexpr char kProduct[] = R"(HloModule m
ENTRY e {
  x = f32[64,512]{1,0} parameter(0)
  w = f32[512,1024]{1,0} parameter(1)
  ROOT d = f32[64,1024]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

Literal Numbers(int64_t rows, int64_t cols, int seed) {
  Literal value(Shape::Array(ElementType::kF32, {rows, cols}));
  auto* const elements = value.as<float>();
  for (int64_t i = 0; i < rows * cols; ++i)
    elements[i] = static_cast<float>((i * 37 + seed * 101) % 17 - 8) / 8;
  return value;
}

class SeenWeightsTest : public testing::Test {
 protected:
  SeenWeightsTest() : client_(*Client::Create("cpu")), program_(*client_->CompileText(kProduct)) {}

  std::unique_ptr<GlobalData> Weights(int seed) {
    return *client_->TransferToServer(Numbers(512, 1024, seed));
  }
  // The product as a program of its own gives it, whose weights nobody has seen.
  Literal Expected(int x, int w) {
    const auto rows = *client_->TransferToServer(Numbers(64, 512, x));
    const auto weights = Weights(w);
    const auto fresh = *client_->CompileText(kProduct);
    return *client_->Transfer(**client_->Execute(*fresh, {rows.get(), weights.get()}));
  }
  // Runs once with rows made of `x`; the arrays whose packed forms are kept afterwards.
  int64_t Run(int x, int w, const GlobalData& weights) {
    const auto rows = *client_->TransferToServer(Numbers(64, 512, x));
    const auto result = client_->Execute(*program_, {rows.get(), &weights});
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(*client_->Transfer(**result), Expected(x, w));
    return program_->executable().packed().arrays;
  }

  std::unique_ptr<Client> client_;
  ProgramHandle program_;
};

TEST_F(SeenWeightsTest, ThirdRunPacks) {
  const auto weights = Weights(1);
  EXPECT_EQ(Run(1, 1, *weights), 0);
  EXPECT_EQ(Run(2, 1, *weights), 0);
  EXPECT_EQ(Run(3, 1, *weights), 1);
  EXPECT_EQ(Run(4, 1, *weights), 1);
  EXPECT_GE(program_->executable().packed().bytes, 512 * 1024 * 4);
}

TEST_F(SeenWeightsTest, OtherWeightsTakeTheirPlace) {
  const auto first = Weights(1), second = Weights(2);
  for (int x = 0; x < 4; ++x) Run(x, 1, *first);
  EXPECT_EQ(Run(5, 2, *second), 0);
  EXPECT_EQ(Run(6, 1, *first), 0) << "the runs do not have it in turn";
  for (int x = 0; x < 10; ++x) Run(x, 2, *second);
  EXPECT_EQ(Run(5, 2, *second), 1);
}

TEST_F(SeenWeightsTest, NewWeightsInTheSameMemoryAreNotTakenForTheOld) {
  for (int w = 0; w < 6; ++w) {
    const auto weights = Weights(w);
    for (int x = 0; x < 4; ++x) Run(x, w, *weights);
  }
}

TEST_F(SeenWeightsTest, DeletedWeightsAreGivenUpByTheNextRunOfAnyProgram) {
  auto weights = Weights(1);
  for (int x = 0; x < 4; ++x) Run(x, 1, *weights);
  EXPECT_EQ(program_->executable().packed().arrays, 1);
  weights.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  Expected(1, 1);  // a run of another program
  EXPECT_EQ(program_->executable().packed().arrays, 0);
}

TEST_F(SeenWeightsTest, ManyThreads) {
  const auto first = Weights(1), second = Weights(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int x = 0; x < 12; ++x) Run(x, 1 + (t + x / 4) % 2, (t + x / 4) % 2 ? *second : *first);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
