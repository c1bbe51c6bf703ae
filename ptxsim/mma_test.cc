// mma with sparse operands and block scales, and matrices of bytes; dense forms are
// kernels_test.cc's.
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ptxsim/rounding.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

// Runs `body` on a warp: q0 points at 16 words of the lane, q1 at its 4 results.
std::vector<uint32_t> RunWarp(const std::string& body, std::vector<uint32_t>& in) {
  std::vector<uint32_t> out(128);
  const std::string text = WithHeader(
      absl::StrCat(".visible .entry k(.param .u64 pin, .param .u64 pout) {\n.reg .b64 q<4>; .reg "
                   ".b32 w<20>, x;\n"
                   ".reg .b16 h<4>;\n.shared .align 128 .b8 mem[1024];\n"
                   "ld.param.u64 q0, [pin]; ld.param.u64 q1, [pout]; mov.u32 x, %tid.x;\n"
                   "mad.wide.u32 q0, x, 64, q0; mad.wide.u32 q1, x, 16, q1;\n",
                   body, "\nret; }\n"));
  LaunchOptions options;
  options.block[0] = 32;
  const absl::Status status = RunWords<uint32_t>(text, {&in, &out}, options);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

uint32_t Pair(double low, double high) {
  return RoundToF16(low) | uint32_t{RoundToF16(high)} << 16;
}

// a[i][j] of the packed 16 x 16 is i + j + 1, b[k][n] is n - k; a nibble of the metadata for each
// row half and half of k.
TEST(Mma, SparseHalves) {
  constexpr uint32_t kNibbles[2][2] = {{0x8, 0x4}, {0xd, 0x9}};  // by row half, half of k
  for (const uint32_t selector : {0u, 1u}) {
    std::vector<uint32_t> in(32 * 16);
    for (int lane = 0; lane < 32; ++lane) {
      uint32_t* words = &in[static_cast<size_t>(lane) * 16];
      const int g = lane / 4, t = lane % 4 * 2;
      for (int r = 0; r < 4; ++r) {
        const int row = g + r % 2 * 8, col = t + r / 2 * 8;
        words[r] = Pair(row + col + 1, row + col + 2);
        words[4 + r] = Pair(g - (t + 8 * r), g - (t + 8 * r + 1));
      }
      const int part = lane % 4 - static_cast<int>(2 * selector);
      if (part == 0 || part == 1)
        words[8] = kNibbles[0][part] * 0x1111 | kNibbles[1][part] * 0x11110000;
    }
    const std::vector<uint32_t> out = RunWarp(
        absl::StrCat(
            "ld.global.v4.u32 {w0,w1,w2,w3}, [q0]; ld.global.v4.u32 {w4,w5,w6,w7}, [q0+16];\n"
            "ld.global.u32 w8, [q0+32]; mov.u32 w9, 0;\n"
            "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
            "{w10,w11,w12,w13}, {w0,w1,w2,w3}, {w4,w5,w6,w7}, {w9,w9,w9,w9}, w8, ",
            selector, ";\nst.global.v4.u32 [q1], {w10,w11,w12,w13};"),
        in);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8, n = lane % 4 * 2 + i % 2;
        float sum = 0;
        for (int j = 0; j < 16; ++j) {
          const uint32_t nibble = kNibbles[row / 8][j / 8];
          const int k = j / 2 * 4 + static_cast<int>(nibble >> j % 2 * 2 & 3);
          sum += static_cast<float>((row + j + 1) * (n - k));
        }
        EXPECT_EQ(std::bit_cast<float>(out[static_cast<size_t>(lane * 4 + i)]), sum) << row << n;
      }
  }
}

// Bytes: lane 4g has the metadata of row g, lane 4g + 1 of row g + 8, the next two the right half.
TEST(Mma, SparseBytes) {
  std::vector<uint32_t> in(32 * 16);
  constexpr uint32_t kNibbles[4] = {0x4, 0xe, 0x9, 0xd};  // by lane of the quad
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t* words = &in[static_cast<size_t>(lane) * 16];
    for (int r = 0; r < 4; ++r) {
      words[r] = 0x01010101;
      for (int i = 0; i < 4; ++i)  // b[k][n] = k
        words[4 + r] |= static_cast<uint32_t>(lane % 4 * 4 + i + 16 * r) << 8 * i;
    }
    words[8] = kNibbles[lane % 4] * 0x11111111u;
  }
  const std::vector<uint32_t> out = RunWarp(
      "ld.global.v4.u32 {w0,w1,w2,w3}, [q0]; ld.global.v4.u32 {w4,w5,w6,w7}, [q0+16];\n"
      "ld.global.u32 w8, [q0+32]; mov.u32 w9, 0;\n"
      "mma.sp.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32 {w10,w11,w12,w13}, {w0,w1,w2,w3}, "
      "{w4,w5,w6,w7}, {w9,w9,w9,w9}, w8, 0;\nst.global.v4.u32 [q1], {w10,w11,w12,w13};",
      in);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      uint32_t sum = 0;
      for (int j = 0; j < 32; ++j) {
        const uint32_t nibble = kNibbles[i / 2 + j / 16 * 2];
        sum += static_cast<uint32_t>(j / 2 * 4) + (nibble >> j % 2 * 2 & 3);
      }
      EXPECT_EQ(out[static_cast<size_t>(lane * 4 + i)], sum);
    }
}

// Four bits in .kind::mxf4: pairs of eight neighbours. All of a is one, b has the numbers of e2m1
// in their order, so that pairs are 0.5, 2.5, 5 and 10; the metadata lies as for bytes.
TEST(Mma, SparsePairsOfNibbles) {
  std::vector<uint32_t> in(32 * 16);
  constexpr uint32_t kNibbles[4] = {0x4, 0xe, 0x9, 0xd};  // by lane of the quad
  constexpr float kSums[4] = {3, 15, 7.5, 12.5};
  for (int lane = 0; lane < 32; ++lane)
    in[static_cast<size_t>(lane) * 16] = kNibbles[lane % 4] * 0x11111111u;
  const std::vector<uint32_t> out = RunWarp(
      "ld.global.u32 w8, [q0]; mov.u32 w0, 0x22222222; mov.u32 w1, 0x76543210; mov.u32 w9, 0;\n"
      "mov.u32 w2, 0x7f7f7f7f; mov.u16 h0, 0;\n"
      "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale."
      "scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {w10,w11,w12,w13}, {w0,w0,w0,w0}, {w1,w1,w1,w1}, "
      "{w9,w9,w9,w9}, w8, 0, w2, {h0,h0}, w2, {h0,h0};\n"
      "st.global.v4.u32 [q1], {w10,w11,w12,w13};",
      in);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(std::bit_cast<float>(out[static_cast<size_t>(lane * 4 + i)]),
                8 * (kSums[i / 2] + kSums[i / 2 + 2]));
}

// Rows scaled by 2^row, columns by 2^-n; all elements are one, in e4m3 and in e2m1, whose bits lie
// in the middle of the byte.
TEST(Mma, BlockScales) {
  std::vector<uint32_t> in(32 * 16);
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t* words = &in[static_cast<size_t>(lane) * 16];
    const int g = lane / 4, t = lane % 4;
    if (t >= 2) words[0] = static_cast<uint32_t>(127 + g + (t - 2) * 8) << 8;  // byte 1, pair 1
    if (t == 3) words[1] = static_cast<uint32_t>(127 - g);                     // byte 0, lane 3
  }
  const std::vector<uint32_t> out = RunWarp(
      "ld.global.v2.u32 {w0,w1}, [q0]; mov.u32 w2, 0x38383838; mov.u32 w3, 0x08080808;\n"
      "mov.u32 w9, 0; mov.u16 h0, 1; mov.u16 h1, 1; mov.u16 h2, 0; mov.u16 h3, 3;\n"
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1."
      "f32."
      "ue8m0 {w10,w11,w12,w13}, {w2,w2,w2,w2}, {w3,w3}, {w9,w9,w9,w9}, w0, {h0,h1}, w1, {h2,h3};\n"
      "st.global.v4.u32 [q1], {w10,w11,w12,w13};",
      in);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, n = lane % 4 * 2 + i % 2;
      EXPECT_EQ(std::bit_cast<float>(out[static_cast<size_t>(lane * 4 + i)]),
                std::ldexp(32.0f, row - n));
    }
}

// nvf4: four scales a row, of ue4m3; e2m1 packed. a = 1, b = 0.5: part p of k counts 16 * 0.5 *
// scale.
TEST(Mma, FourScalesOfPackedE2m1) {
  std::vector<uint32_t> in(32 * 16,
                           0x38404830);  // 0.5, 4, 2, 1 from byte 0 on: 0x30, 0x48, 0x40, 0x38
  const std::vector<uint32_t> out = RunWarp(
      "ld.global.u32 w0, [q0]; mov.u32 w1, 0x38383838; mov.u32 w2, 0x22222222; mov.u32 w3, "
      "0x11111111;\n"
      "mov.u32 w9, 0; mov.u16 h0, 0;\n"
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
      "f32."
      "ue4m3 {w10,w11,w12,w13}, {w2,w2,w2,w2}, {w3,w3}, {w9,w9,w9,w9}, w0, {h0,h0}, w1, {h0,h0};\n"
      "st.global.v4.u32 [q1], {w10,w11,w12,w13};",
      in);
  for (const uint32_t word : out) EXPECT_EQ(std::bit_cast<float>(word), 8 * (0.5f + 4 + 2 + 1));
}

TEST(MatrixMemory, BytesAreTransposedAndExpanded) {
  std::vector<uint32_t> in(32 * 16);
  // mem: byte (r, c) of 16 rows of 16 is 16 r + c.
  const std::string fill =
      "mov.u32 w0, 0; mul.lo.u32 w1, x, 8; mov.u32 w2, mem; add.u32 w2, w2, w1;\n"
      "mul.lo.u32 w3, w1, 0x01010101; add.u32 w3, w3, 0x03020100; add.u32 w4, w3, 0x04040404;\n"
      "st.shared.v2.u32 [w2], {w3, w4}; bar.sync 0; and.b32 w5, x, 15; mul.lo.u32 w5, w5, 16;\n"
      "mov.u32 w6, mem; add.u32 w5, w5, w6;\n";
  std::vector<uint32_t> out =
      RunWarp(fill +
                  "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {w10, w11}, [w5];\n"
                  "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {w12}, [w5];\n"
                  "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {w13}, [w5];\n"
                  "st.global.v4.u32 [q1], {w10,w11,w12,w13};",
              in);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(out[lane * 4] >> 8 * i & 0xff, (t * 4 + i) * 16 + g);
      EXPECT_EQ(out[lane * 4 + 1] >> 8 * i & 0xff, (t * 4 + i) * 16 + g + 8);
      const uint32_t element = t * 4 + i, byte = 16 * g + element / 2;
      EXPECT_EQ(out[lane * 4 + 2] >> 8 * i & 0xff, byte >> element % 2 * 4 & 15);
      const uint32_t bit = element * 6, low = 16 * g + bit / 8;
      EXPECT_EQ(out[lane * 4 + 3] >> 8 * i & 0xff, (low | (low + 1) << 8) >> bit % 8 & 63);
    }
  }
  out = RunWarp(fill +
                    "mul.lo.u32 w7, x, 0x01010101; stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 "
                    "[w5], {w7};\n"
                    "bar.sync 0; ld.shared.u32 w8, [mem+4]; ld.shared.u32 w9, [mem+16];\n"
                    "st.global.v2.u32 [q1], {w8, w9};",
                in);
  EXPECT_EQ(out[0], 0x1c181410u);  // column 0 of rows 4 to 7: lanes 16, 20, 24, 28
  EXPECT_EQ(out[1], 0x0c080400u);  // column 1 of rows 0 to 3
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
