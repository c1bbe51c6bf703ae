// Products by frozen weights: the bits of other products, packed once, dropped when memory is
// short.
#include "runtime/dot/frozen_arrays.h"

#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/dot/dot.h"
#include "runtime/element.h"

namespace hlokit {
namespace {

int64_t available_bytes = int64_t{1} << 40;
int64_t Available() { return available_bytes; }

// rows x depth by depth x cols, the second side stored by rows, or by columns (`along_k`).
struct Shape {
  int64_t rows, depth, cols;
  bool along_k;
};

class Product {
 public:
  Product(int64_t type, int64_t out_type, const Shape& shape)
      : bytes_(ElementBytes(static_cast<int32_t>(out_type)) * shape.rows * shape.cols) {
    const auto [rows, depth, cols, along_k] = shape;
    desc_ = {type, type, out_type, 0, 1, 1, 1, {}};
    desc_.dims[0] = {rows, depth, 0, cols};
    desc_.dims[1] = {cols, 0, along_k ? depth : 1, 1};
    desc_.dims[2] = {depth, 1, along_k ? 1 : cols, 0};
    lhs_ = Values(type, rows * depth, 1);
    rhs_ = Values(type, depth * cols, 2);
    context_.struct_size = sizeof(context_);
  }

  std::vector<char> Run(const FrozenArrays* frozen, int threads) {
    context_.num_threads = threads;
    context_.frozen = const_cast<FrozenArrays*>(frozen);
    std::vector<char> out(bytes_, 0x5a);
    hlokit_dot(&context_, &desc_, lhs_.data(), rhs_.data(), out.data());
    EXPECT_FALSE(context_.failed) << context_.error;
    return out;
  }

  std::vector<char>& rhs() { return rhs_; }
  HlokitRunContext& context() { return context_; }

 private:
  static std::vector<char> Values(int64_t type, int64_t count, int seed) {
    const int64_t bytes = ElementBytes(static_cast<int32_t>(type));
    std::vector<char> values(count * bytes);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> real(-1, 1);
    for (int64_t i = 0; i < count; ++i) {
      char* const at = values.data() + i * bytes;
      const float f = real(random);
      if (type == HLOKIT_F32) {
        std::memcpy(at, &f, sizeof f);
      } else if (type == HLOKIT_F64) {
        const double d = f;
        std::memcpy(at, &d, sizeof d);
      } else if (type == HLOKIT_BF16) {
        const Bfloat16 b = ToBfloat16(f);
        std::memcpy(at, &b, sizeof b);
      } else {
        *at = static_cast<char>(random());
      }
    }
    return values;
  }

  size_t bytes_;
  HlokitDotDesc desc_;
  HlokitRunContext context_ = {};
  std::vector<char> lhs_, rhs_;
};

// The first run packs, the second reads what it packed: it does not see that the weights are gone.
void CheckSameBits(int64_t type, int64_t out_type) {
  for (const bool along_k : {false, true})
    for (const auto& [depth, cols] :
         {std::pair<int64_t, int64_t>{100, 515}, {1500, 96}, {768, 768}})
      for (const int64_t rows : {3, 12, 28, 40, 130, 300, 700}) {
        Product product(type, out_type, {rows, depth, cols, along_k});
        const std::vector<char> expected = product.Run(nullptr, 1);
        for (const int threads : {1, 3}) {
          PackedForms forms;
          FrozenArrays frozen(&forms);
          frozen.Add(7, product.rhs().data(), static_cast<int64_t>(product.rhs().size()));
          EXPECT_EQ(product.Run(&frozen, threads), expected);
          if (forms.counts().arrays == 0) continue;
          EXPECT_GE(forms.counts().bytes, depth * cols * ElementBytes(static_cast<int32_t>(type)));
          const std::vector<char> kept = product.rhs();
          std::fill(product.rhs().begin(), product.rhs().end(), 0);
          EXPECT_EQ(product.Run(&frozen, threads), expected)
              << rows << " x " << depth << " x " << cols << ", " << threads << " threads";
          EXPECT_EQ(forms.counts().arrays, 1);
          std::copy(kept.begin(), kept.end(), product.rhs().begin());
        }
      }
}

TEST(FrozenArraysTest, F32) { CheckSameBits(HLOKIT_F32, HLOKIT_F32); }
TEST(FrozenArraysTest, F64) { CheckSameBits(HLOKIT_F64, HLOKIT_F64); }
TEST(FrozenArraysTest, Bf16) { CheckSameBits(HLOKIT_BF16, HLOKIT_BF16); }
TEST(FrozenArraysTest, S8) { CheckSameBits(HLOKIT_S8, HLOKIT_S32); }

constexpr Shape kShape = {100, 256, 512, false};

TEST(FrozenArraysTest, ManyRowsKeepThePackedForm) {
  for (const int64_t type : {HLOKIT_F32, HLOKIT_BF16}) {
    for (const int64_t rows : {40, 700}) {
      Product product(type, type, {rows, 768, 768, false});
      PackedForms forms;
      FrozenArrays frozen(&forms);
      frozen.Add(0, product.rhs().data(), static_cast<int64_t>(product.rhs().size()));
      product.Run(&frozen, 2);
      EXPECT_EQ(forms.counts().arrays, 1);
    }
  }
}

TEST(FrozenArraysTest, DropsWhenMemoryIsShort) {
  available_bytes = int64_t{1} << 40;
  Product product(HLOKIT_F32, HLOKIT_F32, {100, 4096, 4608, false});  // 72 MiB
  const std::vector<char> expected = product.Run(nullptr, 2);
  PackedForms forms(Available);
  FrozenArrays frozen(&forms);
  frozen.Add(0, product.rhs().data(), static_cast<int64_t>(product.rhs().size()));
  product.Run(&frozen, 2);
  EXPECT_EQ(forms.counts().arrays, 1);
  available_bytes = 1 << 20;
  forms.DropIfShort();
  EXPECT_EQ(forms.counts().arrays, 0);
  EXPECT_EQ(forms.counts().bytes, 0);
  EXPECT_EQ(forms.counts().dropped, 1);
  EXPECT_EQ(product.Run(&frozen, 2), expected);  // packs nothing, since there is no memory
  EXPECT_EQ(forms.counts().arrays, 0);
  available_bytes = int64_t{1} << 40;
}

TEST(FrozenArraysTest, TakesNoMoreThanHalfOfWhatIsAvailable) {
  available_bytes = 512 << 10;  // one packed form is as large
  Product product(HLOKIT_F32, HLOKIT_F32, kShape);
  const std::vector<char> expected = product.Run(nullptr, 2);
  PackedForms forms(Available);
  FrozenArrays frozen(&forms);
  frozen.Add(0, product.rhs().data(), static_cast<int64_t>(product.rhs().size()));
  EXPECT_EQ(product.Run(&frozen, 2), expected);
  EXPECT_EQ(forms.counts().arrays, 0);
  available_bytes = int64_t{1} << 40;
}

TEST(FrozenArraysTest, ACancelledRunKeepsNothing) {
  Product product(HLOKIT_F32, HLOKIT_F32, kShape);
  const std::vector<char> expected = product.Run(nullptr, 2);
  PackedForms forms;
  FrozenArrays frozen(&forms);
  frozen.Add(0, product.rhs().data(), static_cast<int64_t>(product.rhs().size()));
  product.context().cancelled = 1;
  product.Run(&frozen, 2);
  EXPECT_EQ(forms.counts().arrays, 0);
  product.context().cancelled = 0;
  EXPECT_EQ(product.Run(&frozen, 2), expected);
  EXPECT_EQ(forms.counts().arrays, 1);
}

TEST(FrozenArraysTest, LocatesByAddress) {
  std::vector<char> memory(256 << 10);
  PackedForms forms;
  FrozenArrays frozen(&forms);
  frozen.Add(3, memory.data() + (128 << 10), 64 << 10);
  frozen.Add(1, memory.data(), 64 << 10);
  frozen.Add(2, memory.data() + (100 << 10), 100);  // too small to be worth it
  frozen.Add(4, nullptr, 64 << 10);
  PackedKey key;
  EXPECT_TRUE(frozen.Locate(memory.data(), &key));
  EXPECT_EQ(key.array, 1);
  EXPECT_TRUE(frozen.Locate(memory.data() + (128 << 10) + 40, &key));
  EXPECT_EQ(key.array, 3);
  EXPECT_EQ(key.offset, 40);
  EXPECT_FALSE(frozen.Locate(memory.data() + (64 << 10), &key));
  EXPECT_FALSE(frozen.Locate(memory.data() + (100 << 10), &key));
}

TEST(FrozenArraysTest, TheSystemSaysWhatIsAvailable) { EXPECT_GT(AvailableMemory(), 0); }

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
