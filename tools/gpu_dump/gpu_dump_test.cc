// What the readers of a dump take from its files, and what they refuse.
#include "tools/gpu_dump/gpu_dump.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

using testing::HasSubstr;

TEST(GpuDump, ThunksOfNestedSequences) {
  const auto thunks = ParseGpuThunks(
      "001: kCopy         [source       | next=003 (2)] kCopy\n"
      "003: kWhile        [prev=002 (1) | sink        ]   \n"
      "condition:\n"
      "    004: kCustomKernel [source | sink] loop_compare_fusion grid: [1, 2, 3] threads: [32, 4, "
      "1]"
      "  shared_memory: 64 bytes\n",
      "thunk_metadata {\n  thunk_info {\n    profile_annotation: \"copy.9\"\n    thunk_id: 1\n  "
      "}\n}\n"
      "thunk_metadata {\n  thunk_info {\n  }\n  thunk_kind: \"kSequential\"\n}\n"
      "thunk_metadata {\n  thunk_info {\n    profile_annotation: \"loop_compare_fusion.2\"\n"
      "    thunk_id: 4\n  }\n}\n");
  ASSERT_TRUE(thunks.ok()) << thunks.status();
  ASSERT_EQ(thunks->size(), 3u);
  EXPECT_EQ((*thunks)[0].kind, "kCopy");
  EXPECT_EQ((*thunks)[0].kernel, "");
  EXPECT_EQ((*thunks)[0].instruction, "copy.9");
  const GpuThunk& kernel = (*thunks)[2];
  EXPECT_EQ(kernel.kernel, "loop_compare_fusion");
  EXPECT_EQ(kernel.instruction, "loop_compare_fusion.2");
  EXPECT_EQ(kernel.grid[2], 3u);
  EXPECT_EQ(kernel.threads[0], 32u);
  EXPECT_EQ(kernel.shared_bytes, 64);
}

TEST(GpuDump, WithoutMetadataTheKernelNamesTheInstruction) {
  const auto thunks = ParseGpuThunks(
      "1: kKernel fusion grid: [1, 1, 1] threads: [1, 1, 1] shared_memory: 0 bytes", "");
  ASSERT_TRUE(thunks.ok()) << thunks.status();
  EXPECT_EQ((*thunks)[0].instruction, "fusion");
  EXPECT_THAT(ParseGpuThunks("\n1: kKernel f grid: [1] threads: [1, 1, 1]", "").status().message(),
              HasSubstr("line 2"));
}

constexpr char kAssignment[] =
    "BufferAssignment:\n"
    "allocation 0: size 128, maybe-live-out:\n"
    " value: <7 fusion @0> (size=96,offset=32): f32[24]{0}\n"
    "allocation 1: size 16, thread-local:\n"
    " value: <8 loop{1} (phi) @0> (size=4,offset=4): f32[]\n";

TEST(GpuDump, SlicesByPosition) {
  const auto buffers = ParseGpuBuffers(kAssignment,
                                       "Used values:\n<7 fusion @0>\n positions:\n  fusion\n  "
                                       "tuple {0,1}\n uses:\n  add, operand 0\n"
                                       " from instruction: %fusion\n");
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  const GpuSlice slice = {0, 32, 96};
  EXPECT_EQ(buffers->slices.at("fusion"), slice);
  EXPECT_EQ(buffers->slices.at("tuple{0,1}"), slice);
  EXPECT_EQ(buffers->slices.at("loop{1}").allocation, 1);
  EXPECT_FALSE(buffers->slices.contains("add,operand0"));
  EXPECT_TRUE(buffers->allocations[1].is_thread_local);
}

TEST(GpuDump, DamagedAssignments) {
  const auto error = [](absl::string_view text) {
    return std::string(ParseGpuBuffers(text, "").status().message());
  };
  EXPECT_THAT(error("allocation 1: size 3, x"), HasSubstr("line 1: expected allocation 0"));
  EXPECT_THAT(error(" value: <1 a @0> (size=1,offset=0): f32[]"),
              HasSubstr("line 1: expected value"));
  EXPECT_THAT(error("allocation 0: size 4, x\n value: <1 a @0> (size=4,offset=1): f32[]"),
              HasSubstr("line 2: the value does not lie in its allocation"));
  EXPECT_THAT(
      error("allocation 0: size 4, x\n value: <1 a @0> (size=9223372036854775807,offset=9): f"),
      HasSubstr("line 2"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
