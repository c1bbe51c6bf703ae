// The C API beside compiling and running on one device: layouts, several devices, snapshots, what
// is told of programs.
#include <memory>
#include <string>
#include <vector>

#include "client/c_api_builder.h"
#include "client/c_api_messages_internal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Text that the API gave, which is freed.
std::string Taken(char* text) {
  std::string taken = text;
  hlokit_bytes_free(text);
  return taken;
}

class CApiAboutTest : public testing::Test {
 protected:
  CApiAboutTest() { EXPECT_EQ(Message(hlokit_client_create("cpu", &client_)), ""); }
  ~CApiAboutTest() override {
    for (hlokit_buffer* buffer : buffers_) hlokit_buffer_free(buffer);
    hlokit_program_free(program_);
    hlokit_client_free(client_);
  }
  hlokit_buffer*& Slot() { return buffers_.emplace_back(nullptr); }
  hlokit_buffer* Buffer(const char* literal) {
    hlokit_buffer*& made = Slot();
    EXPECT_EQ(Message(hlokit_buffer_from_text(client_, literal, &made)), "");
    return made;
  }
  void Compile(const char* text, const hlokit_compile_options* options = nullptr) {
    ASSERT_EQ(Message(hlokit_compile_text(client_, text, options, &program_)), "");
  }

  hlokit_client* client_ = nullptr;
  hlokit_program* program_ = nullptr;
  std::vector<hlokit_buffer*> buffers_;
};

TEST_F(CApiAboutTest, PlatformsHaveNames) {
  EXPECT_STREQ(hlokit_platform_name(0), "cpu");
  EXPECT_STREQ(hlokit_platform_name(1), "interpreter");
  EXPECT_STREQ(hlokit_platform_name(2), "ptx-sim");
  EXPECT_STREQ(hlokit_platform_name(3), "cuda");
  EXPECT_EQ(hlokit_platform_name(4), nullptr);
  EXPECT_EQ(hlokit_platform_name(-1), nullptr);
}

TEST_F(CApiAboutTest, LayoutsMayBeChosen) {
  hlokit_compile_options options = HLOKIT_COMPILE_OPTIONS_INIT;
  const char* const arguments[] = {"f32[2,3]{0,1}"};
  options.argument_layouts = arguments;
  options.argument_layout_count = 1;
  options.result_layout = "f32[2,3]{0,1}";
  Compile("ENTRY e { x = f32[2,3] parameter(0)\n ROOT y = f32[2,3] negate(x) }", &options);
  char* text = nullptr;
  ASSERT_EQ(Message(hlokit_program_text(program_, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{0,1}}"));
  options.result_layout = "f32[7]";
  hlokit_program* none = nullptr;
  EXPECT_NE(Message(hlokit_compile_text(client_, "ENTRY e { ROOT x = f32[2,3] parameter(0) }",
                                        &options, &none)),
            "");
  options.result_layout = "matrix";
  EXPECT_NE(Message(hlokit_compile_text(client_, "ENTRY e { ROOT x = f32[2,3] parameter(0) }",
                                        &options, &none)),
            "");
}

TEST_F(CApiAboutTest, ValuesAreCopiedInAnyLayout) {
  const hlokit_buffer* x = Buffer("f32[2,3] {{1, 2, 3}, {4, 5, 6}}");
  std::vector<float> columns(6), rows(6);
  ASSERT_EQ(Message(hlokit_buffer_to_host(client_, x, "f32[2,3]{0,1}", columns.data(), 24)), "");
  EXPECT_THAT(columns, ElementsAre(1, 4, 2, 5, 3, 6));
  ASSERT_EQ(Message(hlokit_buffer_to_host(client_, x, nullptr, rows.data(), 24)), "");
  EXPECT_THAT(rows, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_NE(Message(hlokit_buffer_to_host(client_, x, nullptr, rows.data(), 20)), "");
  EXPECT_NE(Message(hlokit_buffer_to_host(client_, x, "f32[3,2]", rows.data(), 24)), "");
  EXPECT_NE(Message(hlokit_buffer_to_host(client_, Buffer("(f32[] 1)"), nullptr, rows.data(), 4)),
            "");
}

TEST_F(CApiAboutTest, ProgramsRunOnSeveralDevices) {
  Compile(R"(HloModule sum, replica_count=2
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[] parameter(0)
  y = f32[] parameter(1)
  z = f32[] multiply(x, y)
  ROOT s = f32[] all-reduce(z), replica_groups={}, to_apply=add })");
  EXPECT_EQ(hlokit_program_device_count(program_), 2);
  const hlokit_buffer* arguments[] = {Buffer("f32[] 2"), Buffer("f32[] 3"), Buffer("f32[] 5"),
                                      Buffer("f32[] 7")};
  hlokit_buffer* results[2] = {};
  ASSERT_EQ(Message(hlokit_execute_replicated(program_, arguments, 2, results)), "");
  for (hlokit_buffer* result : results) {
    EXPECT_EQ(*static_cast<const float*>(hlokit_buffer_data(result)), 41);
    hlokit_buffer_free(result);
  }
  EXPECT_THAT(Message(hlokit_execute_replicated(program_, arguments, 1, results)),
              HasSubstr("2 arguments"));
  EXPECT_NE(Message(hlokit_execute(program_, arguments, 2, results)), "");
}

TEST_F(CApiAboutTest, SnapshotsAndWhatIsToldOfComputations) {
  hlokit_computation* square = nullptr;
  ASSERT_EQ(Message(hlokit_computation_from_text(
                "ENTRY e { x = f32[8] parameter(0)\n ROOT y = f32[8] multiply(x, x) }", &square)),
            "");
  char* text = nullptr;
  ASSERT_EQ(Message(hlokit_computation_shape(square, &text)), "");
  EXPECT_EQ(Taken(text), "(x: f32[8]) -> f32[8]");
  hlokit_computation_stats stats = HLOKIT_COMPUTATION_STATS_INIT;
  ASSERT_EQ(Message(hlokit_computation_get_stats(square, &stats)), "");
  EXPECT_EQ(stats.flop_count, 8);
  EXPECT_EQ(stats.instruction_count, 2);
  // A caller that knows the first field alone.
  hlokit_computation_stats old = HLOKIT_COMPUTATION_STATS_INIT;
  old.struct_size = 16;
  ASSERT_EQ(Message(hlokit_computation_get_stats(square, &old)), "");
  EXPECT_EQ(old.flop_count, 8);
  EXPECT_EQ(old.instruction_count, 0);

  const hlokit_buffer* x = Buffer("f32[8] {1, 2, 3, 4, 5, 6, 7, 8}");
  char* bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(Message(hlokit_snapshot_execution(client_, square, &x, 1, &bytes, &size)), "");
  hlokit_computation* again = nullptr;
  hlokit_buffer *arguments = nullptr, *result = nullptr;
  ASSERT_EQ(Message(hlokit_snapshot_load(client_, bytes, size, &again, &arguments, &result)), "");
  EXPECT_STREQ(hlokit_buffer_shape(arguments), "(f32[8])");
  EXPECT_EQ(static_cast<const float*>(hlokit_buffer_data(result))[7], 64);
  hlokit_computation* none = nullptr;
  EXPECT_NE(Message(hlokit_snapshot_load(client_, bytes, size / 2, &none, &arguments, &result)),
            "");
  hlokit_bytes_free(bytes);
  hlokit_buffer_free(arguments);
  hlokit_buffer_free(result);
  hlokit_computation_free(again);
  hlokit_computation_free(square);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
