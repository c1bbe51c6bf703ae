// Arguments, pasted logs, JSON and differences.
#include <gtest/gtest.h>

#include <csignal>
#include <new>
#include <thread>

#include "tools/common/diff.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/load.h"
#include "tools/common/report.h"
#include "tools/common/signals.h"

namespace hlokit {
namespace {

TEST(Flags, NormalizesNamesOnly) {
  const char* argv[] = {
      "tool", "--num_partitions=a_b", "-print_literals", "-o", "x_y", "-", "-7", "--f_g=", "--",
      "--a_b"};
  EXPECT_EQ(NormalizeArguments(10, argv),
            (std::vector<std::string>{"--num-partitions=a_b", "--print-literals", "-o", "x_y", "-",
                                      "-7", "--f-g", "", "--", "--a_b"}));
}

TEST(Load, BlanksLogPrefixes) {
  std::string text =
      "I0521 12:04:45.123456   77 x.cc:3] HloModule m\nENTRY e {\nE0521 12:04:45.123456 7 x.cc:3] "
      "}\n";
  const size_t size = text.size();
  EXPECT_TRUE(BlankLogPrefixes(text));
  EXPECT_EQ(text.size(), size);
  EXPECT_EQ(text.find("HloModule"), 35u);
  EXPECT_EQ(text.find_first_not_of(' '), 35u);
  std::string plain = "ENTRY e {\nI0521 is a name\n}\n", copy = plain;
  EXPECT_FALSE(BlankLogPrefixes(plain));
  EXPECT_EQ(plain, copy);
}

TEST(SignalsDeathTest, MemoryThatRunsOutIsTheInputsFault) {
  const auto run_out = [] {
    EndOnSignals("tool", 0);
    std::thread([] { throw std::bad_alloc(); }).join();
  };
  EXPECT_EXIT(run_out(), testing::ExitedWithCode(kExitUsage), "tool: error: out of memory");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep their handlers
TEST(SignalsDeathTest, FaultsEndWithAMessage) {
  const auto fail = [](int signal) {
    EndOnSignals("tool", 0);
    std::raise(signal);
  };
  EXPECT_EXIT(fail(SIGABRT), testing::ExitedWithCode(kExitInternal),
              "tool: internal error: SIGABRT");
  EXPECT_EXIT(fail(SIGSEGV), testing::ExitedWithCode(kExitInternal),
              "tool: internal error: SIGSEGV");
}
#endif

TEST(Report, WritesJson) {
  JsonObject json;
  json.Add("a", 1.5);
  json.Add("b", "x\"\n");
  json.Add("c", 3);
  EXPECT_EQ(json.Text(), "{\"a\": 1.5, \"b\": \"x\\\"\\u000a\", \"c\": 3}\n");
}

TEST(Diff, ShowsChangesWithContext) {
  EXPECT_EQ(LineDiff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(LineDiff("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n", 1),
            "@@ -1,4 +1,5 @@\n a\n-b\n+x\n c\n d\n+e\n");
  EXPECT_EQ(LineDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "2\n3\n4\n5\n6\n7\n8\n", 1),
            "@@ -1,2 +1,1 @@\n-1\n 2\n@@ -8,2 +7,1 @@\n 8\n-9\n");
  EXPECT_EQ(LineDiff("", "a\n"), "@@ -1,0 +1,1 @@\n+a\n");
}

// Applying a difference with all its context gives the second text.
TEST(Diff, IsWhole) {
  uint32_t state = 1;
  auto random = [&](uint32_t bound) {
    return (state = state * 1664525 + 1013904223) / 65536 % bound;
  };
  for (int round = 0; round < 200; ++round) {
    std::string a, b, from_a, from_b;
    for (uint32_t i = random(12); i > 0; --i) a += std::string(1, 'a' + random(3)) + "\n";
    for (uint32_t i = random(12); i > 0; --i) b += std::string(1, 'a' + random(3)) + "\n";
    const std::string diff = LineDiff(a, b, 100);
    for (size_t at = diff.find('\n') + 1; !diff.empty() && at < diff.size(); at += 3) {
      if (diff[at] != '+') from_a += diff.substr(at + 1, 2);
      if (diff[at] != '-') from_b += diff.substr(at + 1, 2);
    }
    if (diff.empty()) continue;
    EXPECT_EQ(from_a, a);
    EXPECT_EQ(from_b, b);
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
