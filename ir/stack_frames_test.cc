// Chains of frames, and tables that are broken.
#include "ir/stack_frames.h"

#include <gtest/gtest.h>

namespace hlokit {
namespace {

StackFrameTables Tables() {
  StackFrameTables tables;
  tables.file_names = {"a.py", "b.py"};
  tables.function_names = {"<module>", "f", "g"};
  tables.locations = {{1, 1, 9}, {1, 2, 5}, {2, 3, 2}};
  tables.frames = {{1, 1}, {2, 2}, {3, 3}};
  return tables;
}

std::string Chain(const StackFrameTables& tables, int64_t id, int64_t limit = 16) {
  std::string text;
  for (const StackFrame& frame : CallStack(tables, id, limit))
    text += std::string(frame.function) + ":" + std::to_string(frame.line) + " ";
  return text;
}

TEST(StackFrames, CallersFollowInnermostFirst) {
  const StackFrameTables tables = Tables();
  EXPECT_EQ(Chain(tables, 3), "g:2 f:5 <module>:9 ");
  EXPECT_EQ(Chain(tables, 1), "<module>:9 ");
  EXPECT_EQ(Chain(tables, 3, 2), "g:2 f:5 ");
  EXPECT_EQ(Chain(tables, 0), "");
  EXPECT_EQ(ReadStackFrame(tables, 3)->file, "b.py");
}

TEST(StackFrames, BrokenRowsEndAChain) {
  StackFrameTables tables = Tables();
  tables.frames[1].parent_frame_id = 0;
  EXPECT_EQ(Chain(tables, 3), "g:2 f:5 ");
  tables.frames[0].parent_frame_id = 4;
  tables.frames[1].parent_frame_id = 2;
  EXPECT_EQ(Chain(tables, 3, 4), "g:2 f:5 <module>:9 g:2 ");
  tables.locations[1].function_name_id = 4;
  EXPECT_EQ(Chain(tables, 3), "g:2 ");
  EXPECT_FALSE(ReadStackFrame(tables, 4).has_value());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
