// Sixty-four threads of one process that compile, run, share and drop programs at the same time. Of
// most use under ThreadSanitizer (preset tsan).
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "support/scratch_folder.h"
#include "support/together.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

constexpr int64_t kThreads = 64;

// Sums of `n` columns of 0, 1, 2, ... + `offset`, sorted, and the rounds of a loop.
std::string ModuleText(int64_t n, int64_t offset) {
  return absl::StrCat(R"(HloModule m
sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b) }
order { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GT }
less { i = s32[] parameter(0)
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
next { i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT n = s32[] add(i, one) }
ENTRY e {
  p = s32[3,)",
                      n, R"(]{1,0} parameter(0)
  zero = s32[] constant()",
                      offset, R"()
  r = s32[)",
                      n, R"(]{0} reduce(p, zero), dimensions={0}, to_apply=sum
  sorted = s32[)",
                      n, R"(]{0} sort(r), dimensions={0}, to_apply=order
  start = s32[] constant(0)
  rounds = s32[] while(start), condition=less, body=next
  ROOT t = (s32[)",
                      n, R"(]{0}, s32[]) tuple(sorted, rounds) })");
}

Literal Count(int64_t n) {
  Literal literal(Shape::Array(ElementType::kS32, {3, n}));
  for (int64_t i = 0; i < 3 * n; ++i) literal.SetInt(i, i);
  return literal;
}

std::string Expected(int64_t n, int64_t offset) {
  std::string sums;
  for (int64_t i = n - 1; i >= 0; --i)
    absl::StrAppend(&sums, sums.empty() ? "" : ", ", 3 * i + 3 * n + offset);
  return absl::StrCat("( {", sums, "}, 5 )");
}

std::string ResultOf(Client& client, const CompiledProgram& program, int64_t n) {
  auto data = client.TransferToServer(Count(n));
  if (!data.ok()) return data.status().ToString();
  const auto result = client.Execute(program, {data->get()});
  if (!result.ok()) return result.status().ToString();
  const auto literal = client.Transfer(**result);
  return literal.ok() ? Text(*literal) : literal.status().ToString();
}

// Each thread compiles a program of its own, runs it and one that all share.
void CompileAndRun(Client& client, const CompiledProgram& shared, int64_t thread,
                   const std::string& cache_dir) {
  const int64_t n = 2 + thread % 5;
  ClientCompileOptions options;
  options.backend.threads = 1 + static_cast<int>(thread % 3);
  options.backend.opt_level = static_cast<int>(thread % 4);
  options.backend.cache_dir = thread % 2 == 0 ? cache_dir : "";
  const auto program = client.CompileText(ModuleText(n, thread), options);
  ASSERT_TRUE(program.ok()) << program.status();
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(ResultOf(client, **program, n), Expected(n, thread));
    EXPECT_EQ(ResultOf(client, shared, 4), Expected(4, 0));
  }
}

class ManyThreadsTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Platforms, ManyThreadsTest, testing::Values("cpu", "interpreter"));

TEST_P(ManyThreadsTest, CompileAndRunAtTheSameTime) {
  const ScratchFolder folder;
  const std::unique_ptr<Client> client = Client::Create(GetParam()).value();
  const ProgramHandle shared = client->CompileText(ModuleText(4, 0)).value();
  EXPECT_TRUE(
      RunTogether(kThreads, [&](int64_t t) { CompileAndRun(*client, *shared, t, folder.path()); }));
}

TEST_P(ManyThreadsTest, ClientsOfTheirOwn) {
  EXPECT_TRUE(RunTogether(kThreads, [&](int64_t t) {
    const std::unique_ptr<Client> client = Client::Create(GetParam()).value();
    const auto program = client->CompileText(ModuleText(3, t));
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(ResultOf(*client, **program, 3), Expected(3, t));
  }));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
