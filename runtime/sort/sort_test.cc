// Sorts and top-k against std::stable_sort over every type and order.
#include "runtime/sort/sort.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/context.h"

namespace hlokit {
namespace {

// The value of an element of `type` as a comparable pair: NaN last, and the sign of zeros and NaN
// if `total`.
std::pair<long double, int> Rank(int64_t type, const char* element, bool total) {
  auto of = [&](auto value) { return memcpy(&value, element, sizeof(value)), value; };
  long double value = 0;
  switch (type) {
    case HLOKIT_PRED:
    case HLOKIT_U8:
      return {of(uint8_t()), 0};
    case HLOKIT_S8:
      return {of(int8_t()), 0};
    case HLOKIT_U16:
      return {of(uint16_t()), 0};
    case HLOKIT_S16:
      return {of(int16_t()), 0};
    case HLOKIT_U32:
      return {of(uint32_t()), 0};
    case HLOKIT_S32:
      return {of(int32_t()), 0};
    case HLOKIT_U64:
      return {of(uint64_t()), 0};
    case HLOKIT_S64:
      return {of(int64_t()), 0};
    case HLOKIT_BF16:
      value = ToFloat(of(Bfloat16()));
      break;
    case HLOKIT_F16:
      value = ToFloat(of(Half()));
      break;
    case HLOKIT_F32:
      value = of(float());
      break;
    case HLOKIT_F64:
      value = of(double());
      break;
  }
  const bool negative = std::signbit(value);
  const long double infinity = std::numeric_limits<long double>::infinity();
  if (std::isnan(value))
    return total && negative ? std::pair(-infinity, -1) : std::pair(infinity, 1);
  return {value, total && value == 0 ? !negative : 0};
}

const int64_t kTypes[] = {HLOKIT_PRED, HLOKIT_S8,  HLOKIT_U8,  HLOKIT_S16, HLOKIT_U16,
                          HLOKIT_S32,  HLOKIT_U32, HLOKIT_S64, HLOKIT_U64, HLOKIT_F16,
                          HLOKIT_BF16, HLOKIT_F32, HLOKIT_F64};

// Random bits with zeros of both signs, and one NaN of each sign if `nans` (payloads have no
// defined order).
std::vector<char> RandomElements(int64_t type, int64_t count, bool many_equal) {
  std::mt19937_64 random(count);
  const int64_t bytes = ElementBytes(type);
  std::vector<char> data(count * bytes);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random() % 16 == 0 || many_equal ? random() % 3 : random();
    const double special[] = {0.0, -0.0, NAN, -NAN, INFINITY, 1.5};
    const double drawn = special[random() % 6];
    if (IsFloatType(type) && random() % 4 == 0) {
      const float narrow = static_cast<float>(drawn);
      const Bfloat16 b = ToBfloat16(narrow);
      const Half h = ToHalf(narrow);
      if (type == HLOKIT_F64) memcpy(&bits, &drawn, 8);
      if (type == HLOKIT_F32) memcpy(&bits, &narrow, 4);
      if (type == HLOKIT_BF16) memcpy(&bits, &b, 2);
      if (type == HLOKIT_F16) memcpy(&bits, &h, 2);
    } else if (IsFloatType(type)) {
      bits &= ~(uint64_t{1} << (8 * bytes - 2));  // an exponent that is not all ones
    }
    if (type == HLOKIT_PRED) bits &= 1;
    memcpy(&data[i * bytes], &bits, bytes);
  }
  return data;
}

std::vector<int64_t> StableOrder(const HlokitSortDesc& d, const std::vector<char>& keys,
                                 int64_t first) {
  const int64_t bytes = ElementBytes(d.key_type);
  std::vector<int64_t> order(d.length);
  std::iota(order.begin(), order.end(), 0);
  auto rank = [&](int64_t i) {
    return Rank(d.key_type, &keys[(first + i * d.inner) * bytes], d.order == HLOKIT_ORDER_TOTAL);
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return d.descending ? rank(b) < rank(a) : rank(a) < rank(b);
  });
  return order;
}

template <typename Body>
void ForEachRow(const HlokitSortDesc& d, const Body& body) {
  for (int64_t o = 0; o < d.outer; ++o) {
    for (int64_t i = 0; i < d.inner; ++i) body(o * d.length * d.inner + i);
  }
}

void CheckSorts(const HlokitSortDesc& d, bool many_equal) {
  const int64_t bytes = ElementBytes(d.key_type), count = d.outer * d.length * d.inner;
  const std::vector<char> keys = RandomElements(d.key_type, count, many_equal);
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  HlokitRunContext ctx = {};
  std::vector<char> sorted(keys.size()), keys_out(keys.size());
  std::vector<int32_t> numbers_out(count);
  hlokit_sort_keys(&ctx, &d, keys.data(), sorted.data());
  const int64_t element_bytes[] = {bytes, 4};
  const void* from[] = {keys.data(), numbers.data()};
  void* to[] = {keys_out.data(), numbers_out.data()};
  hlokit_sort_by_key(&ctx, &d, 2, element_bytes, from, to);
  ASSERT_EQ(ctx.failed, 0) << ctx.error;
  ForEachRow(d, [&](int64_t first) {
    const std::vector<int64_t> order = StableOrder(d, keys, first);
    for (int64_t i = 0; i < d.length; ++i) {
      const int64_t at = first + i * d.inner, source = first + order[i] * d.inner;
      ASSERT_EQ(memcmp(&sorted[at * bytes], &keys[source * bytes], bytes), 0)
          << "keys alone, place " << at;
      ASSERT_EQ(memcmp(&keys_out[at * bytes], &keys[source * bytes], bytes), 0) << "place " << at;
      ASSERT_EQ(numbers_out[at], source);
    }
  });
}

class SortTest : public testing::TestWithParam<int64_t> {};

TEST_P(SortTest, EveryOrder) {
  for (int64_t order : {HLOKIT_ORDER_NUMERIC, HLOKIT_ORDER_TOTAL}) {
    for (int64_t descending : {0, 1}) {
      for (bool many_equal : {false, true}) {
        SCOPED_TRACE(testing::Message() << "order " << order << " descending " << descending);
        CheckSorts({GetParam(), order, descending, 3, 200, 1}, many_equal);
        CheckSorts({GetParam(), order, descending, 2, 33, 19}, many_equal);
        CheckSorts({GetParam(), order, descending, 1, 5000, 1}, many_equal);
        CheckSorts({GetParam(), order, descending, 4, 0, 3}, many_equal);
      }
    }
  }
}

TEST_P(SortTest, TopK) {
  for (int64_t k : {0, 1, 5, 100, 1000}) {
    for (int64_t smallest : {0, 1}) {
      const HlokitSortDesc d = {GetParam(), HLOKIT_ORDER_TOTAL, !smallest, 3, 1000, 1};
      const int64_t bytes = ElementBytes(GetParam());
      const std::vector<char> keys = RandomElements(GetParam(), 3000, false);
      std::vector<char> values(3 * k * bytes + 1);
      std::vector<int32_t> indices(3 * k + 1);
      const HlokitTopKDesc desc = {GetParam(), 3, 1000, k, smallest};
      hlokit_topk(nullptr, &desc, keys.data(), values.data(), indices.data());
      for (int64_t r = 0; r < 3; ++r) {
        const std::vector<int64_t> order = StableOrder(d, keys, r * 1000);
        for (int64_t i = 0; i < k; ++i) {
          ASSERT_EQ(indices[r * k + i], order[i]) << "k " << k << " row " << r << " place " << i;
          ASSERT_EQ(
              memcmp(&values[(r * k + i) * bytes], &keys[(r * 1000 + order[i]) * bytes], bytes), 0);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SortTest, testing::ValuesIn(kTypes));

TEST(SortGenericTest, ByTwoColumnsStably) {
  const int64_t length = 300;
  std::vector<float> major(length);
  std::vector<int8_t> minor(length);
  std::vector<uint64_t> number(length);
  std::mt19937 random(1);
  for (int64_t i = 0; i < length; ++i)
    major[i] = random() % 5, minor[i] = random() % 3, number[i] = i;
  const HlokitLess less = [](void* env, const void* const* columns, int64_t a,
                             int64_t b) -> int32_t {
    ++*static_cast<int*>(env);
    const float* x = static_cast<const float*>(columns[0]);
    const int8_t* y = static_cast<const int8_t*>(columns[1]);
    return x[a] != x[b] ? x[a] > x[b] : y[a] < y[b];
  };
  std::vector<uint64_t> want = number;
  std::stable_sort(want.begin(), want.end(), [&](uint64_t a, uint64_t b) {
    return major[a] != major[b] ? major[a] > major[b] : minor[a] < minor[b];
  });
  const HlokitSortDesc d = {0, 0, 0, 1, length, 1};
  const int64_t bytes[] = {4, 1, 8};
  const void* from[] = {major.data(), minor.data(), number.data()};
  void* to[] = {major.data(), minor.data(), number.data()};  // in place
  int calls = 0;
  hlokit_sort_generic(nullptr, &d, 3, bytes, from, to, less, &calls);
  EXPECT_EQ(number, want);
  EXPECT_GT(calls, length);
}

TEST(SortGenericTest, EndsOnInconsistentComparison) {
  std::vector<int32_t> values(1000);
  std::iota(values.begin(), values.end(), 0);
  const HlokitSortDesc d = {0, 0, 0, 10, 100, 1};
  const int64_t bytes[] = {4};
  const void* from[] = {values.data()};
  void* to[] = {values.data()};
  hlokit_sort_generic(
      nullptr, &d, 1, bytes, from, to,
      [](void*, const void* const*, int64_t, int64_t) { return 1; }, nullptr);
  std::sort(values.begin(), values.end());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(values[i], i);
}

TEST(SortTest, RefusesComplexKeys) {
  HlokitRunContext ctx = {};
  const HlokitSortDesc d = {HLOKIT_C64, 0, 0, 1, 2, 1};
  float data[4] = {};
  hlokit_sort_keys(&ctx, &d, data, data);
  EXPECT_EQ(ctx.failed, 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
