// The vector kernels of matrix products, each instruction set of this machine, against products.cc.
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/product_tile_internal.h"
#include "ptxsim/rounding.h"
#include "support/cpu_features.h"

namespace hlokit::ptx {
namespace {

std::vector<const ProductKernels*> KernelsOfThisMachine() {
  std::vector<const ProductKernels*> all = {&isa_base::kProductKernels};
#if defined(__x86_64__)
  if (BestIsa() != Isa::kBase) all.push_back(&isa_avx2::kProductKernels);
  if (BestIsa() == Isa::kAvx512) all.push_back(&isa_avx512::kProductKernels);
#endif
  return all;
}

constexpr int kMaxColumns = 32, kMaxDepth = 32;
struct alignas(64) Arrays {
  float a[kMaxDepth * kTileRows], b[kMaxColumns * kMaxDepth], c[kMaxColumns * kTileRows];
};

class Numbers {
 public:
  // What a random number of the kind looks like: near one, far apart, a few small integers, mostly
  // zeros, as large as their exponent allows, any bits.
  enum Kind { kNormal, kApart, kSmall, kSparse, kLarge, kAny, kKinds };

  explicit Numbers(unsigned seed) : bits_(seed) {}
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(bits_() % n); }
  int Within(int least, int count) {
    return least + static_cast<int>(Below(static_cast<uint32_t>(count)));
  }
  float Next(Kind kind, Type type) {
    const auto normal = static_cast<float>(Normal());
    switch (kind) {
      case kNormal:
        return As(normal, type);
      case kApart:
        return As(std::ldexp(normal, Within(-20, 40)), type);
      case kSmall:
        return As(static_cast<float>(Within(-2, 5)), type);
      case kSparse:
        return Below(10) != 0 ? 0 : As(normal, type);
      case kLarge:
        return As(std::ldexp(Below(3) != 0 ? 1.9999f : -1.9999f, Within(0, 6)), type);
      default:
        break;
    }
    const auto word = static_cast<uint32_t>(bits_());
    return type == Type::kF16 ? F16Value(static_cast<uint16_t>(word))
                              : As(std::bit_cast<float>(word), type);
  }

 private:
  double Normal() { return std::normal_distribution<double>()(bits_); }
  // The nearest value of the type.
  static float As(float value, Type type) {
    switch (type) {
      case Type::kF16:
        return F16Value(RoundToF16(value));
      case Type::kBF16:
        return BF16Value(RoundToBF16(value));
      case Type::kTF32:
        return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffffe000u);
      case Type::kE4M3:
        return static_cast<float>(ValueOfFormat(
            RoundToFormat(value, kFormatE4M3, Rounding::kNearest, true), kFormatE4M3));
      default:
        return value;
    }
  }

  std::mt19937 bits_;
};

struct Case {
  int columns = 8, depth = 16;
  bool b_by_depth = false;
  ProductRule rule;
};

Case RandomCase(Numbers& numbers) {
  constexpr Type kTypes[] = {Type::kF16, Type::kBF16, Type::kTF32, Type::kE4M3};
  const Type type = kTypes[numbers.Below(4)];
  const Type sum = numbers.Below(4) == 0 ? Type::kF16 : Type::kF32;
  const bool in_fours = type == Type::kTF32 && sum == Type::kF32 && numbers.Below(2) == 0;
  return {8 << numbers.Below(3),
          4 << numbers.Below(4),
          numbers.Below(2) == 0,
          {type, type, sum, sum, numbers.Below(3) == 0 ? 13 : 25,
           in_fours ? ProductSteps::kFours : ProductSteps::kAll}};
}

TEST(ProductTile, FloatsAreThoseOfTensorCores) {
  Numbers numbers(7);
  int taken = 0, all = 0;
  for (int round = 0; round < 3000; ++round) {
    const Case c = RandomCase(numbers);
    const auto kind = static_cast<Numbers::Kind>(numbers.Below(Numbers::kKinds));
    Matrix a(kTileRows, c.depth), b(c.depth, c.columns), sums(kTileRows, c.columns);
    Arrays given;
    for (int k = 0; k < c.depth; ++k) {
      for (int r = 0; r < kTileRows; ++r)
        a.at(r, k) = given.a[k * kTileRows + r] = numbers.Next(kind, c.rule.a);
      for (int j = 0; j < c.columns; ++j)
        b.at(k, j) = given.b[c.b_by_depth ? k * c.columns + j : j * c.depth + k] =
            numbers.Next(kind, c.rule.b);
    }
    for (int j = 0; j < c.columns; ++j)
      for (int r = 0; r < kTileRows; ++r)
        sums.at(r, j) = given.c[j * kTileRows + r] = numbers.Next(kind, c.rule.c);
    MultiplyFloats(a, b, sums, c.rule);
    const bool to_half = c.rule.d == Type::kF16;
    const TileRule rule = {c.rule.fraction,         c.rule.steps == ProductSteps::kFours ? 4 : 0,
                           LeastExponent(c.rule.a), LeastExponent(c.rule.b),
                           LeastExponent(c.rule.c), to_half};
    for (const ProductKernels* kernels : KernelsOfThisMachine()) {
      Arrays arrays = given;
      ++all;
      if (!kernels->floats({c.columns, c.depth, c.b_by_depth, arrays.a, arrays.b, arrays.c}, rule))
        continue;
      ++taken;
      for (int j = 0; j < c.columns; ++j)
        for (int r = 0; r < kTileRows; ++r) {
          const float sum = arrays.c[j * kTileRows + r];
          const float got = to_half ? F16Value(RoundToF16(sum)) : sum;
          const auto want = static_cast<float>(sums.at(r, j));
          ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want))
              << "round " << round << ", row " << r << ", column " << j;
        }
    }
  }
  EXPECT_GT(taken, all * 6 / 10);
}

TEST(ProductTile, IntegersWrapOrSaturate) {
  Numbers numbers(8);
  for (const ProductKernels* kernels : KernelsOfThisMachine())
    for (const bool saturate : {false, true}) {
      Arrays arrays;
      int32_t want[8 * kTileRows];
      for (float& x : arrays.a) x = static_cast<float>(numbers.Within(-128, 256));
      for (float& x : arrays.b) x = static_cast<float>(numbers.Below(256));
      for (int j = 0; j < 8; ++j)
        for (int r = 0; r < kTileRows; ++r) {
          const int32_t c = j % 2 ? INT32_MAX - numbers.Within(0, 1000) : numbers.Within(-9, 18);
          int64_t sum = c;
          for (int k = 0; k < 32; ++k)
            sum += static_cast<int64_t>(arrays.a[k * kTileRows + r] * arrays.b[j * 32 + k]);
          if (saturate && sum > INT32_MAX) sum = INT32_MAX;
          arrays.c[j * kTileRows + r] = std::bit_cast<float>(c);
          want[j * kTileRows + r] = static_cast<int32_t>(sum);
        }
      kernels->integers({8, 32, false, arrays.a, arrays.b, arrays.c}, saturate);
      for (int i = 0; i < 8 * kTileRows; ++i)
        ASSERT_EQ(std::bit_cast<int32_t>(arrays.c[i]), want[i]) << i;
    }
}

TEST(ProductTile, HalvesAreWidenedExactly) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(all.size());
  for (const ProductKernels* kernels : KernelsOfThisMachine()) {
    kernels->widen(all.data(), 1 << 16, TileElement::kF16, nullptr, wide.data());
    for (const uint16_t half : all)
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[half]), std::bit_cast<uint32_t>(F16Value(half)));
  }
}

// What pack_sums writes unpack_sums reads, and both keep to PlaceInC; unpack to PlaceInA.
TEST(ProductTile, FragmentsLieAsTheIsaSays) {
  Numbers numbers(9);
  for (const ProductKernels* kernels : KernelsOfThisMachine()) {
    uint32_t words[4][kLanes], back[4][kLanes] = {};
    for (auto& column : words)
      for (uint32_t& word : column) word = numbers.Below(~uint32_t{0});
    const uint32_t* from[4] = {words[0], words[1], words[2], words[3]};
    uint32_t* to[4] = {back[0], back[1], back[2], back[3]};
    alignas(64) float c[8 * kTileRows], a[16 * kTileRows];
    kernels->unpack_sums(from, 4, c);
    kernels->pack_sums(c, 4, to);
    kernels->unpack(from, 4, TileElement::kBF16, nullptr, a);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 8; ++i) {
        if (i < 4) {
          const Place at = PlaceInC(lane, i);
          ASSERT_EQ(std::bit_cast<uint32_t>(c[at.col * kTileRows + at.row]), words[i][lane]);
          ASSERT_EQ(back[i][lane], words[i][lane]);
        }
        const Place at = PlaceInA(16, 2, lane, i);
        ASSERT_EQ(std::bit_cast<uint32_t>(a[at.col * kTileRows + at.row]),
                  (words[i / 2][lane] >> i % 2 * 16) << 16);
      }
  }
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
