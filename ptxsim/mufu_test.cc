// Approximations against an H200: hashes of its results on evenly spaced operands
// (scripts/gpu/ptx_hardware.py, sweeps), and what it does at the ends.
#include "ptxsim/mufu.h"

#include <bit>
#include <cmath>

#include "gtest/gtest.h"

namespace hlokit::ptx {
namespace {

constexpr uint64_t kSeed = 0xcbf29ce484222325u, kPrime = 0x100000001b3u;

struct Sweep {
  const char* name;
  float (*function)(float);
  uint32_t base, step, count;
  uint64_t hash;  // of the GPU's results
};
const Sweep kSweeps[] = {
    {"Rcp", &Approximations<true>::Rcp, 0x3f800000, 61, 137519, 0x67838b19786c1a92},
    {"Rcp", &Approximations<true>::Rcp, 0x80000000, 249795, 17190, 0xbabbcce1552f29ba},
    {"Rcp", &Approximations<false>::Rcp, 0x0, 249795, 17190, 0x40226fbbf1563100},
    {"Rsqrt", &Approximations<true>::Rsqrt, 0x3f800000, 61, 275037, 0xdf50f55be3ec6efa},
    {"Rsqrt", &Approximations<false>::Rsqrt, 0x0, 124379, 17190, 0x26b05f320a5d1f2a},
    {"Sqrt", &Approximations<true>::Sqrt, 0x3f800000, 61, 275037, 0xa8cd722863323987},
    {"Sqrt", &Approximations<false>::Sqrt, 0x0, 124379, 17190, 0xb677539c95d4df51},
    {"Ex2", &Approximations<true>::Ex2, 0x3f800000, 61, 137519, 0x798e8222da1e662c},
    {"Ex2", &Approximations<true>::Ex2, 0xb0000000, 8479, 34380, 0x3191f191dd13b5d4},
    {"Ex2", &Approximations<false>::Ex2, 0xc2c00000, 427, 17190, 0x5c60f6b732b5ac23},
    {"Lg2", &Approximations<true>::Lg2, 0x3f000000, 61, 275037, 0xaaade5b5492cbb8},
    {"Lg2", &Approximations<false>::Lg2, 0x0, 124379, 17190, 0xf1eecf017ac16317},
    {"Sin", &Approximations<true>::Sin, 0x38000000, 2013, 68760, 0xe91d300bbcb8eeb8},
    {"Sin", &Approximations<true>::Sin, 0x41000000, 3843, 17190, 0x9ca06d7b1d82548a},
    {"Sin", &Approximations<false>::Sin, 0x0, 62159, 17190, 0xf29b775ff5c07d8f},
    {"Cos", &Approximations<true>::Cos, 0x38000000, 2013, 68760, 0x252d4f192da069ec},
    {"Cos", &Approximations<true>::Cos, 0x41000000, 3843, 17190, 0x7e3b3d5fc650a190},
};

TEST(Mufu, GivesTheBitsOfAnH200) {
  for (const Sweep& sweep : kSweeps) {
    uint64_t hash = kSeed;
    for (uint32_t i = 0; i < sweep.count; ++i) {
      const float result = sweep.function(std::bit_cast<float>(sweep.base + i * sweep.step));
      const bool is_nan = result != result;
      hash = (hash ^ (is_nan ? 0x7fffffffu : std::bit_cast<uint32_t>(result))) * kPrime;
    }
    EXPECT_EQ(hash, sweep.hash) << sweep.name << " from " << sweep.base;
  }
}

struct WideSweep {
  const char* name;
  uint32_t (*function)(uint32_t);
  uint32_t base, step, count;
  uint64_t hash;
};
const WideSweep kWideSweeps[] = {
    {"MufuRcp64", &MufuRcp64, 0x3ff00000, 61, 17190, 0x3b6ad524475f3610},
    {"MufuRcp64", &MufuRcp64, 0x0, 124379, 17190, 0xa87fc3793bac90a9},
    {"MufuRsqrt64", &MufuRsqrt64, 0x3ff00000, 61, 34380, 0xb9f53e4c23c59ece},
    {"MufuRsqrt64", &MufuRsqrt64, 0x0, 124379, 17190, 0xab3d903fae634705},
};

TEST(Mufu, GivesTheUpperHalvesOfAnH200) {
  for (const WideSweep& sweep : kWideSweeps) {
    uint64_t hash = kSeed;
    for (uint32_t i = 0; i < sweep.count; ++i)
      hash = (hash ^ sweep.function(sweep.base + i * sweep.step)) * kPrime;
    EXPECT_EQ(hash, sweep.hash) << sweep.name << " from " << sweep.base;
  }
}

TEST(Mufu, EndsOfRanges) {
  EXPECT_EQ(MufuRcp(0.0f), HUGE_VALF);
  EXPECT_EQ(MufuRcp(-0.0f), -HUGE_VALF);
  EXPECT_EQ(MufuRcp(33.0f), std::bit_cast<float>(0x3cf83e0fu));
  EXPECT_EQ(MufuRsqrt(1.0f), 1.0f);
  EXPECT_EQ(MufuSqrt(4.0f), 2.0f);
  EXPECT_EQ(MufuEx2(-3.0f), 0.125f);
  EXPECT_EQ(MufuEx2(128.0f), HUGE_VALF);
  EXPECT_EQ(MufuEx2(-200.0f), 0.0f);
  EXPECT_EQ(MufuLg2(1.0f), 0.0f);
  EXPECT_EQ(MufuLg2(8.0f), 3.0f);
  EXPECT_EQ(MufuLg2(0.0f), -HUGE_VALF);
  EXPECT_TRUE(std::isnan(MufuLg2(-1.0f)));
  EXPECT_EQ(MufuSin(0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(MufuCos(HUGE_VALF)));
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
