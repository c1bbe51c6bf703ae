// Products of floats by weights of a byte: the bits of products by the widened weights.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/dot/dot.h"
#include "runtime/element.h"

namespace hlokit {
namespace {

constexpr int32_t kByteTypes[] = {HLOKIT_S8, HLOKIT_U8, HLOKIT_F8E4M3FN, HLOKIT_F8E5M2};

float Widened(int32_t type, uint8_t bits) {
  switch (type) {
    case HLOKIT_S8:
      return ToFloat(SignedByte{static_cast<int8_t>(bits)});
    case HLOKIT_U8:
      return ToFloat(UnsignedByte{bits});
    case HLOKIT_F8E4M3FN:
      return ToFloat(Float8E4M3Fn{bits});
    default:
      return ToFloat(Float8E5M2{bits});
  }
}

// A float of a sign, so many bits of exponent, and a mantissa. `finite`: there is no infinity, and
// the largest number is NaN; else both are as in IEEE 754.
float Decoded(uint8_t bits, int exponent_bits, bool finite) {
  const int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7f) >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  const bool last = exponent == (1 << exponent_bits) - 1;
  if (finite ? (bits & 0x7f) == 0x7f : last && mantissa != 0)
    return std::numeric_limits<float>::quiet_NaN();
  if (last && !finite) return sign * std::numeric_limits<float>::infinity();
  const auto fraction = static_cast<float>(mantissa + (exponent > 0 ? 1 << mantissa_bits : 0));
  return sign * std::ldexp(fraction, std::max(exponent, 1) - bias - mantissa_bits);
}

TEST(ByteWeightsTest, WidensEveryByte) {
  for (int b = 0; b < 256; ++b) {
    const auto bits = static_cast<uint8_t>(b);
    EXPECT_EQ(Widened(HLOKIT_S8, bits), static_cast<float>(static_cast<int8_t>(bits)));
    EXPECT_EQ(Widened(HLOKIT_U8, bits), static_cast<float>(b));
    for (const auto& [type, want] : {std::pair{HLOKIT_F8E4M3FN, Decoded(bits, 4, true)},
                                     {HLOKIT_F8E5M2, Decoded(bits, 5, false)}}) {
      const float got = Widened(type, bits);
      EXPECT_EQ(std::isnan(got), std::isnan(want)) << b;
      if (!std::isnan(want)) {
        EXPECT_EQ(got, want) << b;
      }
    }
  }
}

struct Sizes {
  int64_t rows, depth, cols;
  bool along_k;
};

// rows x depth of f32 by depth x cols of `type`; `swapped`: weights on the left.
std::vector<float> Multiplied(const Sizes& s, const std::vector<float>& x, int32_t type,
                              const void* weights, bool swapped, int threads) {
  HlokitRunContext context = {};
  context.struct_size = sizeof(context);
  context.num_threads = threads;
  const HlokitDotDim row = {s.rows, s.depth, 0, s.cols};
  const HlokitDotDim col = {s.cols, 0, s.along_k ? s.depth : 1, 1};
  const HlokitDotDim sum = {s.depth, 1, s.along_k ? 1 : s.cols, 0};
  HlokitDotDesc desc = {HLOKIT_F32, type, HLOKIT_F32, 0, 1, 1, 1, {row, col, sum}};
  if (swapped) {
    desc = {type, HLOKIT_F32, HLOKIT_F32, 0, 1, 1, 1, {}};
    desc.dims[0] = {col.size, col.rhs, 0, col.out};
    desc.dims[1] = {row.size, 0, row.lhs, row.out};
    desc.dims[2] = {sum.size, sum.rhs, sum.lhs, 0};
  }
  std::vector<float> out(s.rows * s.cols, 0.5f);
  hlokit_dot(&context, &desc, swapped ? weights : x.data(), swapped ? x.data() : weights,
             out.data());
  EXPECT_FALSE(context.failed) << context.error;
  return out;
}

void CheckSameBits(int32_t type, const Sizes& s) {
  std::mt19937 random(static_cast<unsigned>(s.rows));
  std::uniform_real_distribution<float> real(-1, 1);
  std::vector<float> x(s.rows * s.depth), wide(s.depth * s.cols);
  std::vector<uint8_t> weights(wide.size());
  for (float& value : x) value = real(random);
  for (size_t i = 0; i < wide.size(); ++i) {
    do {
      weights[i] = static_cast<uint8_t>(random());
      wide[i] = Widened(type, weights[i]);
    } while (!std::isfinite(wide[i]));
  }
  for (const bool swapped : {false, true}) {
    const auto want = Multiplied(s, x, HLOKIT_F32, wide.data(), swapped, 1);
    for (const int threads : {1, 3}) {
      const auto got = Multiplied(s, x, type, weights.data(), swapped, threads);
      EXPECT_EQ(std::memcmp(got.data(), want.data(), 4 * got.size()), 0)
          << s.rows << " x " << s.depth << " x " << s.cols << (s.along_k ? " along k" : "")
          << ", type " << type << ", " << threads << " threads" << (swapped ? ", swapped" : "");
    }
  }
}

// Few weights are packed; many are read in place by few rows, in pieces that end with a panel that
// is not whole.
TEST(ByteWeightsTest, ProductsHaveTheBitsOfWidenedWeights) {
  for (const int32_t type : kByteTypes)
    for (const bool along_k : {false, true})
      for (const int64_t rows : {1, 3, 8, 19, 40}) {
        CheckSameBits(type, {rows, 100, 35, along_k});
        CheckSameBits(type, {rows, 1100, 1003, along_k});
      }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
