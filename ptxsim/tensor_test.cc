// Tensor maps and the copies of boxes that they describe.
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/tensor_map.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// f32 [rows][cols], row-major.
TensorMap MapOf(uint32_t cols, uint32_t rows, uint32_t box_cols, uint32_t box_rows) {
  TensorMap map;
  map.rank = 2;
  map.element_type = 7;
  map.dims[0] = cols;
  map.dims[1] = rows;
  map.strides[0] = cols * 4;
  map.box[0] = box_cols;
  map.box[1] = box_rows;
  for (uint8_t& stride : map.element_strides) stride = 1;
  return map;
}

// Runs `copy` with q0 the map, mem 4 KiB of shared memory, bar an mbarrier that waits for `bytes`;
// `in` is the tensor, whose address is put into the map. Gives the shared memory.
absl::Status RunCopy(const TensorMap& map, std::vector<uint32_t>& in, const std::string& copy,
                     int bytes, std::vector<uint32_t>& out) {
  const std::string text = WithHeader(absl::StrCat(R"(
.visible .entry k(.param .u64 pmap, .param .u64 pin, .param .u64 pout) {
.reg .b64 q<4>, in, out; .reg .b32 r<8>; .reg .b16 h<4>; .reg .pred p<2>;
.shared .align 1024 .b8 mem[4096]; .shared .align 8 .b64 bar;
ld.param.u64 q0, [pmap]; ld.param.u64 in, [pin]; ld.param.u64 out, [pout];
tensormap.replace.tile.global_address.global.b1024.b64 [q0], in;
mov.u32 r0, 0;
fill: st.shared.u32 [r0], 99; add.u32 r0, r0, 4; setp.lt.u32 p0, r0, 4096; @p0 bra fill;
mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], )",
                                                   bytes, ";\n", copy, R"(
wait: mbarrier.try_wait.parity.shared.b64 p0, [bar], 0; @!p0 bra wait;
mov.u32 r0, 0;
copy: ld.shared.u32 r1, [r0]; cvt.u64.u32 q1, r0; add.u64 q1, q1, out; st.global.u32 [q1], r1;
add.u32 r0, r0, 4; setp.lt.u32 p0, r0, 4096; @p0 bra copy; ret; })"));
  std::vector<uint32_t> words(32);
  std::memcpy(words.data(), &map, 128);
  out.assign(1024, 0);
  LaunchOptions options;
  options.max_steps = 100000;
  return RunWords<uint32_t>(text, {&words, &in, &out}, options);
}

// 100 * row + column.
std::vector<uint32_t> Tensor(uint32_t cols, uint32_t rows) {
  std::vector<uint32_t> in(cols * rows);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = i / cols * 100 + i % cols;
  return in;
}

constexpr char kLoad2d[] =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[mem], [q0, {2, 1}], [bar];";

TEST(Tensor, CopiesABox) {
  std::vector<uint32_t> in = Tensor(8, 4), out;
  const absl::Status status = RunCopy(MapOf(8, 4, 4, 2), in, kLoad2d, 32, out);
  ASSERT_TRUE(status.ok()) << status;
  out.resize(9);
  EXPECT_THAT(out, ElementsAre(102, 103, 104, 105, 202, 203, 204, 205, 99));
}

TEST(Tensor, FillsWhatLiesOutside) {
  std::vector<uint32_t> in = Tensor(4, 2), out;
  TensorMap map = MapOf(4, 2, 4, 2);
  ASSERT_TRUE(RunCopy(map, in, kLoad2d, 32, out).ok());
  out.resize(9);
  EXPECT_THAT(out, ElementsAre(102, 103, 0, 0, 0, 0, 0, 0, 99));
  map.fill = 1;
  ASSERT_TRUE(RunCopy(map, in, kLoad2d, 32, out).ok());
  EXPECT_EQ(out[2], 0x7ff77ff7u);
  // tf32: what is copied is rounded (an H200's bits).
  map.fill = 0;
  map.element_type = 11;
  in.assign(8, 0x8b821eb0u);
  ASSERT_TRUE(RunCopy(map, in, kLoad2d, 32, out).ok());
  EXPECT_EQ(out[0], 0x8b822000u);
}

// Piece p of row r of 128 bytes lies where piece p xor r is.
TEST(Tensor, Swizzles) {
  std::vector<uint32_t> in = Tensor(32, 8), out;
  for (const auto& [swizzle, pieces, turn] :
       {std::tuple(3, 8, 1), std::tuple(2, 4, 2), std::tuple(1, 2, 4)}) {
    TensorMap map = MapOf(32, 8, static_cast<uint32_t>(pieces * 4), 8);
    map.swizzle = static_cast<uint8_t>(swizzle);
    ASSERT_TRUE(RunCopy(map, in,
                        "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes "
                        "[mem], [q0, {0, 0}], [bar];",
                        pieces * 128, out)
                    .ok());
    for (int row = 0; row < 8; ++row)
      for (int piece = 0; piece < pieces; ++piece) {
        const int place = row * pieces + (piece ^ (row / turn % pieces));
        EXPECT_EQ(out[static_cast<size_t>(place * 4)], row * 100 + piece * 4)
            << row << " " << piece;
      }
  }
}

TEST(Tensor, ElementStridesSkip) {
  std::vector<uint32_t> in = Tensor(8, 8), out;
  TensorMap map = MapOf(8, 8, 4, 4);
  map.element_strides[1] = 2;
  ASSERT_TRUE(RunCopy(map, in, kLoad2d, 32, out).ok());
  out.resize(9);
  EXPECT_THAT(out, ElementsAre(102, 103, 104, 105, 302, 303, 304, 305, 99));
}

TEST(Tensor, GathersAndScattersRows) {
  std::vector<uint32_t> in = Tensor(8, 8), out;
  ASSERT_TRUE(RunCopy(MapOf(8, 8, 4, 1), in,
                      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::"
                      "complete_tx::bytes [mem], [q0, {4, 7, 0, 3, 5}], [bar];\n"
                      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
                      "[q0, {0, 1, 2, 4, 6}], [mem];",
                      64, out)
                  .ok());
  EXPECT_THAT((std::vector<uint32_t>{out[0], out[4], out[8], out[12], out[16]}),
              ElementsAre(704, 4, 304, 504, 99));
  EXPECT_THAT((std::vector<uint32_t>{in[8], in[16], in[32], in[48], in[40]}),
              ElementsAre(704, 4, 304, 504, 500));
}

TEST(Tensor, StoresAndReducesInsideAlone) {
  std::vector<uint32_t> in(8, 1), out;
  TensorMap map = MapOf(4, 2, 4, 2);
  map.element_type = 2;  // u32
  ASSERT_TRUE(RunCopy(map, in,
                      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                      "[q0, {2, 1}], [mem];\nmbarrier.complete_tx.shared.b64 [bar], 4;",
                      4, out)
                  .ok());
  EXPECT_THAT(in, ElementsAre(1, 1, 1, 1, 1, 1, 100, 100));
}

// An image [n 2][h 3][w 3][c 4]: a 2 x 2 filter's box leaves out the last row and column.
TEST(Tensor, WalksPixels) {
  std::vector<uint32_t> in(2 * 3 * 3 * 4), out;
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = i / 4 * 10 + i % 4;
  TensorMap map;
  map.rank = 4;
  map.element_type = 7;
  map.is_im2col = 1;
  const uint32_t dims[] = {4, 3, 3, 2};
  for (int d = 0; d < 4; ++d) {
    map.dims[d] = dims[d];
    map.element_strides[d] = 1;
  }
  map.strides[0] = 16;
  map.strides[1] = 48;
  map.strides[2] = 144;
  map.upper[0] = map.upper[1] = -1;
  map.box[0] = 4;
  map.box[1] = 5;
  ASSERT_TRUE(RunCopy(map, in,
                      "mov.u16 h0, 1; mov.u16 h1, 0;\n"
                      "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::"
                      "bytes [mem], [q0, {0, 0, 0, 0}], [bar], {h0, h1};",
                      80, out)
                  .ok());
  EXPECT_THAT((std::vector<uint32_t>{out[0], out[4], out[8], out[12], out[16], out[20]}),
              ElementsAre(10, 20, 40, 50, 100, 99));
}

TEST(Tensor, WrongMapsAreTold) {
  std::vector<uint32_t> in = Tensor(8, 4), out;
  TensorMap map = MapOf(8, 4, 4, 2);
  map.rank = 3;
  EXPECT_THAT(std::string(RunCopy(map, in, kLoad2d, 32, out).message()),
              HasSubstr("a tensor map of 3 dimensions, the instruction has 2"));
  EXPECT_THAT(std::string(RunCopy(MapOf(8, 40, 4, 2), in,
                                  "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx"
                                  "::bytes [mem], [q0, {0, 36}], [bar];",
                                  32, out)
                              .message()),
              HasSubstr("out-of-bounds tensor copy at global address"));
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
