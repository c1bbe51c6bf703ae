// Strided copies against a plain loop.
#include "runtime/movement/memory.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

// Permutes random sizes; sources may repeat (stride 0) or have gaps.
void CheckRandomCopy(std::mt19937& random, int64_t bytes, int64_t largest) {
  const int64_t rank = random() % 5;
  HlokitCopyDesc d = {bytes, rank, {}};
  int64_t from_size = 1 + random() % 2, to_size = 1;
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  for (int i : order) d.dims[i].size = random() % largest + (random() % 20 != 0);
  std::shuffle(order.begin(), order.end(), random);
  for (int i : order) {
    d.dims[i].from = random() % 6 == 0 ? 0 : from_size;
    from_size *= std::max<int64_t>(1, d.dims[i].size);
  }
  std::shuffle(order.begin(), order.end(), random);
  int64_t count = 1;
  for (int i : order)
    d.dims[i].to = to_size, to_size *= std::max<int64_t>(1, d.dims[i].size),
    count *= d.dims[i].size;
  std::vector<uint8_t> from(from_size * bytes), to(to_size * bytes, 0xcc), want = to;
  for (uint8_t& x : from) x = random();
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, source = 0, target = 0;
    for (int64_t i = 0; i < rank; ++i) {
      source += rest % d.dims[i].size * d.dims[i].from;
      target += rest % d.dims[i].size * d.dims[i].to;
      rest /= d.dims[i].size;
    }
    memcpy(&want[target * bytes], &from[source * bytes], bytes);
  }
  HlokitRunContext ctx = {};
  hlokit_copy_strided(&ctx, &d, from.data(), to.data());
  ASSERT_EQ(ctx.failed, 0) << ctx.error;
  ASSERT_EQ(to, want);
}

TEST(CopyTest, RandomDimensions) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    for (int64_t bytes : {1, 2, 4, 8, 16}) CheckRandomCopy(random, bytes, i % 10 == 0 ? 40 : 9);
    if (HasFatalFailure()) return;
  }
}

template <typename T>
void CheckTranspose(int64_t n, int64_t m) {
  std::vector<T> from(n * m), to(n * m);
  for (int64_t i = 0; i < n * m; ++i) from[i] = static_cast<T>(i * 40503);
  const HlokitCopyDesc d = {sizeof(T), 2, {{n, m, 1}, {m, 1, n}}};
  hlokit_copy_strided(nullptr, &d, from.data(), to.data());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) ASSERT_EQ(to[j * n + i], from[i * m + j]) << i << ", " << j;
  }
}

TEST(CopyTest, LargeTranspose) {
  CheckTranspose<uint8_t>(130, 200);
  CheckTranspose<uint16_t>(300, 517);
  CheckTranspose<uint32_t>(300, 517);
  CheckTranspose<uint64_t>(300, 517);
}

// Planes of every small size, several of them, and planes with few rows or columns.
template <typename T>
void CheckPlanes(int64_t planes, int64_t n, int64_t m) {
  std::vector<T> from(planes * n * m), to(planes * n * m);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 40503);
  const HlokitCopyDesc d = {sizeof(T), 3, {{planes, n * m, n * m}, {n, m, 1}, {m, 1, n}}};
  hlokit_copy_strided(nullptr, &d, from.data(), to.data());
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j)
        ASSERT_EQ(to[(p * m + j) * n + i], from[(p * n + i) * m + j]) << n << " x " << m;
}

TEST(CopyTest, SmallPlanes) {
  for (int64_t n = 1; n < 20; ++n)
    for (int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 70}) {
      CheckPlanes<uint8_t>(3, n, m);
      CheckPlanes<uint16_t>(2, n, m);
      CheckPlanes<uint32_t>(3, n, m);
      CheckPlanes<uint64_t>(2, n, m);
      if (HasFatalFailure()) return;
    }
  CheckPlanes<uint8_t>(2, 3, 100'003);
  CheckPlanes<uint8_t>(2, 100'003, 3);
  CheckPlanes<uint32_t>(1, 3, 50'001);
  CheckPlanes<uint16_t>(1, 50'001, 6);
}

// Results whose rows begin where lines of the cache fall together go by way of a buffer.
TEST(CopyTest, TransposesAtPowersOfTwo) {
  CheckTranspose<uint16_t>(517, 1024);
  CheckTranspose<uint16_t>(1024, 517);
  CheckTranspose<uint32_t>(256, 77);
  CheckTranspose<uint32_t>(512, 512);
  CheckTranspose<uint64_t>(384, 133);
}

// Results of 8 MiB and more that begin on cache lines are written by non-temporal stores; one plane
// at an odd size and one that begins in the middle of a line are not.
template <typename T>
void CheckLongTranspose(int64_t rows, int64_t cols, size_t shift) {
  std::vector<T> from(rows * cols);
  std::iota(from.begin(), from.end(), T());
  std::vector<T> memory(rows * cols + 64 / sizeof(T) + shift);
  const size_t ahead = (-reinterpret_cast<uintptr_t>(memory.data()) & 63) / sizeof(T) + shift;
  HlokitCopyDesc d = {sizeof(T), 2, {{rows, cols, 1}, {cols, 1, rows}}};
  HlokitRunContext ctx = {};
  hlokit_copy_strided(&ctx, &d, from.data(), memory.data() + ahead);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      ASSERT_EQ(memory[ahead + c * rows + r], from[r * cols + c]) << r << " " << c;
}

TEST(CopyTest, LongTransposes) {
  CheckLongTranspose<uint32_t>(1536, 1392, 0);
  CheckLongTranspose<uint32_t>(1536, 1392, 3);
  CheckLongTranspose<uint32_t>(1541, 1399, 0);
  CheckLongTranspose<uint64_t>(1032, 1031, 0);
  CheckLongTranspose<uint16_t>(2080, 2049, 0);
  CheckLongTranspose<uint16_t>(2080, 2049, 1);
  CheckLongTranspose<uint32_t>(3072, 2999, 0);
}

// Planes of dense rows, sizes outermost first: short ones, long ones, and ones that are not whole
// lines.
void CheckLongRows(int64_t outer, int64_t middle, int64_t row) {
  const int64_t count = outer * middle * row;
  std::vector<uint32_t> from(count), memory(count + 16);
  std::iota(from.begin(), from.end(), 0);
  uint32_t* to = memory.data() + (-reinterpret_cast<uintptr_t>(memory.data()) & 63) / 4;
  const HlokitCopyDesc d = {
      4, 3, {{outer, row, middle * row}, {middle, outer * row, row}, {row, 1, 1}}};
  hlokit_copy_strided(nullptr, &d, from.data(), to);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t m = 0; m < middle; ++m)
      for (int64_t r = 0; r < row; ++r)
        ASSERT_EQ(to[(o * middle + m) * row + r], from[(m * outer + o) * row + r]);
}

TEST(CopyTest, LongRows) {
  CheckLongRows(3, 43691, 16);
  CheckLongRows(257, 128, 64);
  CheckLongRows(300, 410, 17);
  CheckLongRows(11, 67, 2992);
}

TEST(CopyTest, RefusesOddElements) {
  HlokitRunContext ctx = {};
  const HlokitCopyDesc d = {3, 0, {}};
  hlokit_copy_strided(&ctx, &d, "abc", nullptr);
  EXPECT_EQ(ctx.failed, 1);
}

TEST(ParallelTest, CoversEveryIndexOnceInFixedRanges) {
  for (int threads : {1, 2, 7}) {
    HlokitRunContext ctx = {};
    ctx.num_threads = threads;
    std::vector<int> seen(10007, 0);
    ParallelFor(&ctx, 10007, 10, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(begin % 10, 0);
      for (int64_t i = begin; i < end; ++i) ++seen[i];
      ParallelFor(&ctx, 5, 1, [&](int64_t b, int64_t e) { EXPECT_LT(b, e); });  // nested: inline
    });
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 10007) << threads;
  }
}

TEST(ParallelTest, CancelledRunStops) {
  HlokitRunContext ctx = {};
  ctx.num_threads = 1;
  int calls = 0;
  ParallelFor(&ctx, 100, 1, [&](int64_t, int64_t) { ctx.cancelled = ++calls == 3; });
  EXPECT_EQ(calls, 3);
}

TEST(ContextTest, FirstErrorStays) {
  HlokitRunContext ctx = {};
  hlokit_call_reference(&ctx, 5, nullptr, nullptr);
  hlokit_set_error(&ctx, "second");
  EXPECT_STREQ(ctx.error, "no reference platform is installed (number 5)");
  EXPECT_EQ(hlokit_cancelled(&ctx), 1);
}

TEST(CopyTest, WholeCopiesOfAnyAlignment) {
  std::vector<uint8_t> from(3'000'000);
  std::mt19937 random(5);
  for (uint8_t& x : from) x = random();
  HlokitRunContext ctx = {};
  for (auto copy : {&hlokit_copy, &hlokit_copy_out}) {
    for (const size_t bytes : {size_t{0}, size_t{5}, size_t{63}, size_t{200}, from.size() - 80}) {
      for (const int shift : {0, 1, 63}) {
        std::vector<uint8_t> to(from.size(), 0xcc), want = to;
        std::copy_n(from.begin() + 7, bytes, want.begin() + shift);
        copy(&ctx, from.data() + 7, to.data() + shift, static_cast<int64_t>(bytes));
        ASSERT_TRUE(to == want) << bytes << " bytes at " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
