// Arguments, pasted logs, JSON and differences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <thread>

#include "tools/common/arguments.h"
#include "tools/common/diff.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/load.h"
#include "tools/common/report.h"
#include "tools/common/signals.h"
#include "tools/common/tool_call.h"

namespace hlokit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Flags, NormalizesNamesOnly) {
  const char* argv[] = {
      "tool", "--num_partitions=a_b", "-print_literals", "-o", "x_y", "-", "-7", "--f_g=", "--",
      "--a_b"};
  EXPECT_EQ(NormalizeArguments(10, argv),
            (std::vector<std::string>{"--num-partitions=a_b", "--print-literals", "-o", "x_y", "-",
                                      "-7", "--f-g", "", "--", "--a_b"}));
}

std::vector<std::string> Called(std::vector<const char*> argv, const char* tool = "hlo-run",
                                std::vector<std::string>* warnings = nullptr) {
  const auto knows = [](absl::string_view name) {
    return name == "--print-literals" || name == "--no-passes" ? FlagKind::kSwitch
           : name == "--xla-dump-to" || name == "--seed"       ? FlagKind::kWithValue
                                                               : FlagKind::kUnknown;
  };
  const auto call = ReadToolCall(tool, static_cast<int>(argv.size()), argv.data(), knows);
  if (!call.ok()) return {std::string(call.status().message())};
  if (warnings != nullptr) *warnings = call->warnings;
  return call->arguments;
}

using Words = std::vector<std::string>;

TEST(ToolCall, OwnFlagsStayAsTheyAre) {
  unsetenv("XLA_FLAGS");
  EXPECT_EQ(Called({"hlo-run", "--num_partitions=2", "a.hlo", "--reference-platform="}),
            (Words{"--num-partitions=2", "a.hlo", "--reference-platform", ""}));
}

TEST(ToolCall, NamesOfXlaHaveItsFlagsAndDefaults) {
  unsetenv("XLA_FLAGS");
  EXPECT_EQ(Called({"/usr/bin/run_hlo_module", "--platform=Host", "a.hlo"}),
            (Words{"--platform=host", "a.hlo", "--reference-platform=interpreter"}));
  EXPECT_EQ(Called({"run_hlo_module", "--platform=CPU", "--reference_platform=", "a.hlo"}),
            (Words{"--platform=cpu", "--reference-platform", "", "a.hlo"}));
  EXPECT_EQ(Called({"hlo_runner_main", "--hlo_file", "a.hlo", "--run=false", "--num_nodes=1"}),
            (Words{"a.hlo", "--compile-only"}));
  EXPECT_EQ(Called({"isolate_hlo", "--input=a.pb", "--input_format=proto_binary",
                    "--output_format=long_txt", "--instruction_name=%add.1"},
                   "hlo-opt"),
            (Words{"a.pb", "--input-format=pb", "--format=text", "--extract=%add.1"}));
  EXPECT_EQ(Called({"hlo_bisect", "--input=d/a.hlo", "--script=x"}, "hlo-reduce"),
            (Words{"d/a.hlo", "--script=x"}));
  // Another tool that happens to be called by the name has its own flags.
  EXPECT_EQ(Called({"run_hlo_module", "--run=false"}, "hlo-viz"), (Words{"--run=false"}));
}

TEST(ToolCall, SwitchesAreTurnedOffByNo) {
  unsetenv("XLA_FLAGS");
  std::vector<std::string> warnings;
  EXPECT_EQ(Called({"hlo-run", "--noprint_literals", "--no-passes", "--noseed"}),
            (Words{"--print-literals=false", "--no-passes", "--noseed"}));
  EXPECT_EQ(Called({"hlo_runner_main", "--norun", "--nouse_spmd_partitioning", "a"}),
            (Words{"--compile-only", "a"}));
  EXPECT_EQ(Called({"hlo-run", "--noxla_gpu_x", "--v", "1", "a"}, "hlo-run", &warnings),
            (Words{"a"}));
  EXPECT_THAT(warnings, testing::UnorderedElementsAre(HasSubstr("--v has no"),
                                                      HasSubstr("--xla_gpu_x has no")));
}

TEST(ToolCall, WhatCannotBeHadSaysWhatToType) {
  unsetenv("XLA_FLAGS");
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS"})
    unsetenv(name);
  EXPECT_THAT(Called({"hlo_runner_main", "--num_nodes=2", "a"})[0], HasSubstr("leave --num_nodes"));
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);  // as mpirun -n 2 does
  EXPECT_EQ(Called({"hlo_runner_main", "--num_nodes=2", "--task_id=1", "--address=x:1", "a"}),
            (Words{"a"}));
  EXPECT_THAT(Called({"hlo_runner_main", "--num_nodes=3", "a"})[0], HasSubstr("mpirun -n 3"));
  unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_THAT(Called({"run_hlo_module", "--input_format=riegeli", "a"})[0],
              HasSubstr("--xla_dump_hlo_as_proto"));
  EXPECT_THAT(Called({"hlo_runner_main", "--run=perhaps", "a"})[0], HasSubstr("true or false"));
}

TEST(ToolCall, XlaFlagsGiveWayToTheCommandLine) {
  setenv("XLA_FLAGS", "--xla_dump_to=a --xla_backend_optimization_level=1 '--xla_gpu_x=b c'", 1);
  std::vector<std::string> warnings;
  EXPECT_EQ(Called({"hlo-run", "--xla_dump_to=b"}, "hlo-run", &warnings),
            (Words{"--opt-level=1", "--xla-dump-to=b"}));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("--xla_gpu_x has no effect here")));
  EXPECT_EQ(Called({"hlo-viz", "m"}, "hlo-viz", &warnings), (Words{"m"}));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("hlo-viz compiles nothing")));
  Called({"hlo-reduce", "m"}, "hlo-reduce", &warnings);  // the tools that it runs read XLA_FLAGS
  EXPECT_THAT(warnings, testing::IsEmpty());
  setenv("XLA_FLAGS", "--xla_dmp_to=a", 1);
  Called({"hlo-run"}, "hlo-run", &warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("did you mean --xla_dump_to?")));
  setenv("XLA_FLAGS", "--xla_disable_hlo_passes=dce word", 1);
  EXPECT_EQ(Called({"hlo-run"}, "hlo-run", &warnings), Words{"--disable-passes=dce"});
  // As XLA does: JAX's manual has intra_op_parallelism_threads=1 among the flags.
  setenv("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false word=1 --xla_dump_to=a", 1);
  EXPECT_EQ(Called({"hlo-run"}, "hlo-run", &warnings), Words{"--threads=1"});
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("'word=1 --xla_dump_to=a' has no effect, as in XLA")));
  // What XLA does not have is told from what means nothing here.
  setenv("XLA_FLAGS", "--xla_cpu_enable_fast_mth --xla_gpu_enable_triton_gemm=0 --xla_no_such=1", 1);
  warnings.clear();
  Called({"hlo-run", "m"}, "hlo-run", &warnings);
  EXPECT_THAT(warnings, testing::UnorderedElementsAre(
                            HasSubstr("--xla_cpu_enable_fast_mth has no effect here: did you mean "
                                      "--xla_cpu_enable_fast_math?"),
                            HasSubstr("--xla_gpu_enable_triton_gemm has no effect here: "),
                            testing::AllOf(HasSubstr("--xla_no_such"),
                                           HasSubstr("XLA (jaxlib 0.10.2) has no such flag"))));
  setenv("XLA_FLAGS", "--xla_dump_to", 1);
  EXPECT_THAT(Called({"hlo-run", "m"})[0], HasSubstr("XLA_FLAGS: --xla_dump_to needs a value"));
  setenv("XLA_FLAGS", "--no_such_at_all=3", 1);
  EXPECT_THAT(Called({"hlo-run", "m"})[0],
              HasSubstr("XLA_FLAGS: --no_such_at_all is no flag of XLA's"));
  setenv("XLA_FLAGS", "no_such_file", 1);
  EXPECT_THAT(Called({"hlo-run"})[0], HasSubstr("names a file"));
  unsetenv("XLA_FLAGS");
}

TEST(ToolCall, DebugOptionsFilesGiveWayToBoth) {
  const std::string path = testing::TempDir() + "/debug_options.txt";
  std::ofstream(path) << "# dumped\nxla_dump_to: \"c\"\nxla_backend_optimization_level: 3\n";
  setenv("XLA_FLAGS", "--xla_backend_optimization_level=1", 1);
  EXPECT_EQ(Called({"hlo-run", ("--debug_options_file=" + path).c_str(), "m"}),
            (Words{"--xla-dump-to=c", "--opt-level=1", "m"}));
  unsetenv("XLA_FLAGS");
  EXPECT_THAT(Called({"hlo-run", "--debug_options_file=/no/such"})[0], HasSubstr("/no/such"));
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
