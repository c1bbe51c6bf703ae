// Use lists against a plain model: an instruction is among a value's users exactly where the value
// is among its operands, and once, below and above the sizes from which hash maps keep the lists.
#include "ir/instruction.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "ir/module.h"

namespace hlokit {
namespace {

class UseListsTest : public testing::TestWithParam<int64_t> {
 protected:
  UseListsTest() {
    for (int k = 0; k < 12; ++k) values_.push_back(computation_->AddParameter(k, Shape(), ""));
    for (int64_t k = 0; k < GetParam(); ++k) model_.push_back(Any());
    tuple_ = computation_->Add(Opcode::kTuple, Shape(), model_);
  }
  Instruction* Any() { return values_[random_() % values_.size()]; }

  void Step() {
    const int64_t i = static_cast<int64_t>(random_() % model_.size());
    Instruction* one = Any();
    Instruction* other = Any();
    switch (random_() % 8) {
      case 0:
        tuple_->AppendOperand(one);
        model_.push_back(one);
        break;
      case 1:
        if (model_.size() < 2) break;
        tuple_->RemoveOperand(i);
        model_.erase(model_.begin() + i);
        break;
      case 2:
        one->ReplaceUseIn(tuple_, other);
        std::replace(model_.begin(), model_.end(), one, other);
        break;
      case 3:
        one->ReplaceAllUsesWith(other);
        std::replace(model_.begin(), model_.end(), one, other);
        break;
      default:
        tuple_->SetOperand(i, one);
        model_[i] = one;
    }
  }

  void Check() const {
    ASSERT_EQ(std::vector<Instruction*>(tuple_->operands().begin(), tuple_->operands().end()),
              model_);
    for (const Instruction* value : values_) {
      const bool used = std::find(model_.begin(), model_.end(), value) != model_.end();
      ASSERT_EQ(std::count(value->users().begin(), value->users().end(), tuple_), used ? 1 : 0);
    }
  }

  Module module_{"m"};
  Computation* computation_ = module_.AddComputation("e");
  std::vector<Instruction*> values_, model_;
  Instruction* tuple_ = nullptr;
  std::mt19937 random_{static_cast<uint32_t>(GetParam())};
};

TEST_P(UseListsTest, AgreeWithOperands) {
  Check();
  for (int step = 0; step < 2000; ++step) {
    Step();
    ASSERT_NO_FATAL_FAILURE(Check()) << "after step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, UseListsTest, testing::Values(1, 3, 16, 63, 66, 200));

TEST(ModuleTest, ARemovedComputationIsFoundNoMore) {
  Module module("m");
  Computation* first = module.AddComputation("a");
  Computation* second = module.AddComputation("b");
  const int64_t removed = first->id();
  module.Remove(first);
  EXPECT_EQ(module.FindComputation(removed), nullptr);
  EXPECT_EQ(module.FindComputation(second->id()), second);
  EXPECT_EQ(module.FindComputation(module.computation_id_bound()), nullptr);
  EXPECT_NE(module.AddComputation("c")->id(), removed);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
