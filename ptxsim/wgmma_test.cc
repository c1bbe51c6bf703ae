// wgmma of m64n8k16: each way that shared memory can hold its operands, and registers.
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ptxsim/rounding.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

constexpr int kM = 64, kN = 8, kK = 16;
constexpr int kAWords = 2048, kBWords = 512, kWords = kAWords + kBWords;  // of shared memory

// Byte of element (i, k) from the matrix's first, i along m or n; and the descriptor's offsets.
struct Layout {
  const char* name;
  std::function<int(int i, int k)> at;
  uint64_t leading, stride, mode;
  bool mn;
};

// Core matrices of 8 rows of 16 bytes, one after the other along k, then along m or n.
const Layout kPlain = {
    "plain", [](int i, int k) { return (i / 8 * 2 + k / 8) * 128 + i % 8 * 16 + k % 8 * 2; },
    128,     256,
    0,       false};
// Core matrices of 8 steps of k, each of 8 neighbours along m or n.
const Layout kPlainMn = {
    "plain, m or n contiguous",
    [](int i, int k) { return (i / 8 * 2 + k / 8) * 128 + k % 8 * 16 + i % 8 * 2; },
    128,
    256,
    0,
    true};
// Rows of `chunks` chunks of 16 bytes; chunk c of row r stands at c ^ the row's number among those
// that share 128 bytes.
int Swizzled(int chunks, int row, int column) {
  const int chunk = column / 8 ^ (row * chunks / 8) % chunks;
  return row * chunks * 16 + chunk * 16 + column % 8 * 2;
}
const Layout kSwizzle128 = {"128", [](int i, int k) { return Swizzled(8, i, k); }, 16, 1024, 1,
                            false};
const Layout kSwizzle64 = {"64", [](int i, int k) { return Swizzled(4, i, k); }, 16, 512, 2, false};
const Layout kSwizzle32 = {"32", [](int i, int k) { return Swizzled(2, i, k); }, 16, 256, 3, false};
const Layout kSwizzle128Mn = {
    "128, m or n contiguous", [](int i, int k) { return Swizzled(8, k, i); }, 1024, 1024, 1, true};

double ValueOfA(int i, int k) { return (3 * i + 5 * k) % 11 - 5; }
double ValueOfB(int j, int k) { return (7 * j + 2 * k) % 9 - 4; }

uint64_t Descriptor(const Layout& layout, uint64_t start) {
  return start >> 4 | layout.leading >> 4 << 16 | layout.stride >> 4 << 32 | layout.mode << 62;
}

void Place(std::vector<uint32_t>& words, int first_word, const Layout& layout, int rows,
           double (*value)(int, int)) {
  auto* bytes = reinterpret_cast<char*>(words.data() + first_word);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < kK; ++k) {
      const uint16_t bits = RoundToF16(value(i, k));
      std::memcpy(bytes + layout.at(i, k), &bits, 2);
    }
}

// Copies the words to shared memory, multiplies, and stores each thread's four sums.
std::string KernelOf(const Layout& a, const Layout& b, const std::string& arguments) {
  return WithHeader(absl::StrCat(R"(
.shared .align 1024 .b8 s[10240];
.visible .entry k(.param .u64 pin, .param .u64 pout) {
  .reg .b64 in, out, da, db; .reg .b32 t, i, x, to; .reg .b32 a<4>; .reg .f32 d<4>; .reg .pred p, keep;
  ld.param.u64 in, [pin]; ld.param.u64 out, [pout];
  mov.u32 t, %tid.x; mov.u32 i, t; mov.u32 to, s;
  mad.wide.u32 in, t, 4, in; mad.lo.u32 to, t, 4, to;
copy:
  ld.global.u32 x, [in]; st.shared.u32 [to], x;
  add.u64 in, in, 512; add.u32 to, to, 512; add.u32 i, i, 128;
  setp.lt.u32 p, i, )",
                                 kWords, R"(;
  @p bra copy;
  bar.sync 0;
  mov.f32 d0, 1.0; mov.f32 d1, 1.0; mov.f32 d2, 1.0; mov.f32 d3, 1.0;
  mov.b32 a0, 0x3c003c00; mov.b32 a1, a0; mov.b32 a2, a0; mov.b32 a3, a0;
  setp.lt.u32 keep, t, 1000;
  mov.u64 da, )",
                                 Descriptor(a, 0), ";\n  mov.u64 db, ", Descriptor(b, 4 * kAWords),
                                 R"(;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, )",
                                 arguments, R"(;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mad.wide.u32 out, t, 16, out;
  st.global.v4.f32 [out], {d0,d1,d2,d3};
  ret;
})"));
}

// The sums by row and column.
absl::StatusOr<std::vector<float>> RunProduct(const Layout& a, const Layout& b,
                                              const std::string& arguments) {
  std::vector<uint32_t> words(kWords), sums(kM * kN);
  Place(words, 0, a, kM, ValueOfA);
  Place(words, kAWords, b, kN, ValueOfB);
  LaunchOptions options;
  options.block[0] = 128;
  RETURN_IF_ERROR(RunWords<uint32_t>(KernelOf(a, b, arguments), {&words, &sums}, options));
  std::vector<float> result(kM * kN);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 4; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 * 8;
      const int column = thread % 4 * 2 + i % 2;
      result[row * kN + column] = std::bit_cast<float>(sums[4 * thread + i]);
    }
  return result;
}

double SumOf(int row, int column, bool ones) {
  double sum = 0;
  for (int k = 0; k < kK; ++k) sum += (ones ? 1 : ValueOfA(row, k)) * ValueOfB(column, k);
  return sum;
}

class WgmmaLayoutTest : public testing::TestWithParam<const Layout*> {};

TEST_P(WgmmaLayoutTest, GivesTheProductOfA) {
  const Layout& layout = *GetParam();
  const auto sums =
      RunProduct(layout, kPlain, absl::StrCat("da, db, 0, 1, 1, ", layout.mn ? 1 : 0, ", 0"));
  ASSERT_TRUE(sums.ok()) << sums.status();
  for (int r = 0; r < kM; ++r)
    for (int c = 0; c < kN; ++c)
      ASSERT_EQ((*sums)[r * kN + c], SumOf(r, c, false)) << r << "," << c;
}

TEST_P(WgmmaLayoutTest, GivesTheProductOfB) {
  const Layout& layout = *GetParam();
  if (layout.mn && layout.mode != 0) return;  // 8 columns are less than a row of 128 bytes
  const auto sums =
      RunProduct(kPlain, layout, absl::StrCat("da, db, 0, 1, 1, 0, ", layout.mn ? 1 : 0));
  ASSERT_TRUE(sums.ok()) << sums.status();
  for (int r = 0; r < kM; ++r)
    for (int c = 0; c < kN; ++c)
      ASSERT_EQ((*sums)[r * kN + c], SumOf(r, c, false)) << r << "," << c;
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaLayoutTest,
                         testing::Values(&kPlain, &kPlainMn, &kSwizzle128, &kSwizzle64, &kSwizzle32,
                                         &kSwizzle128Mn));

TEST(Wgmma, ScalesAndKeepsTheAccumulator) {
  const auto kept = RunProduct(kPlain, kPlain, "da, db, keep, -1, 1, 0, 0");
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ((*kept)[9], 1 - SumOf(1, 1, false));
  const auto dropped = RunProduct(kPlain, kPlain, "da, db, 0, -1, -1, 0, 0");
  ASSERT_TRUE(dropped.ok()) << dropped.status();
  EXPECT_EQ((*dropped)[9], SumOf(1, 1, false));
}

TEST(Wgmma, TakesAFromRegisters) {
  const auto sums = RunProduct(kPlain, kPlain, "{a0,a1,a2,a3}, db, 1, 1, 1, 0");
  ASSERT_TRUE(sums.ok()) << sums.status();
  for (int r = 0; r < kM; ++r)
    for (int c = 0; c < kN; ++c) ASSERT_EQ((*sums)[r * kN + c], 1 + SumOf(r, c, true));
}

TEST(Wgmma, RefusesWrongOperands) {
  EXPECT_EQ(RunProduct(kPlain, kPlain, "da, db, 0, 1, 1, 0").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunProduct(kPlain, kPlain, "{a0,a1}, db, 1, 1, 1, 0").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Wgmma, FindsMatricesOutsideSharedMemory) {
  Layout far = kPlain;
  far.stride = 0x3fff0;
  const auto sums = RunProduct(far, kPlain, "da, db, 0, 1, 1, 0, 0");
  EXPECT_NE(std::string(sums.status().message()).find("out-of-bounds"), std::string::npos)
      << sums.status();
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
