// The C API with arguments that make no sense: an error each, and handles that stay of use.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "client/c_api_builder.h"
#include "client/c_api_messages_internal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

class CApiHostileTest : public testing::Test {
 protected:
  CApiHostileTest() { EXPECT_EQ(Message(hlokit_client_create("cpu", &client_)), ""); }
  ~CApiHostileTest() override { hlokit_client_free(client_); }

  hlokit_client* client_ = nullptr;
};

#define EXPECT_NULL(call, name) EXPECT_EQ(Message(call), name " is null")

TEST_F(CApiHostileTest, NullIsNamed) {
  hlokit_buffer* buffer = nullptr;
  hlokit_program* program = nullptr;
  hlokit_computation* computation = nullptr;
  hlokit_pending* pending = nullptr;
  char* bytes = nullptr;
  size_t size = 0;
  const float one = 1;
  EXPECT_NULL(hlokit_client_create("cpu", nullptr), "client");
  EXPECT_NULL(hlokit_buffer_from_host(nullptr, "f32[]", &one, 4, &buffer), "client");
  EXPECT_NULL(hlokit_buffer_from_host(client_, nullptr, &one, 4, &buffer), "shape");
  EXPECT_NULL(hlokit_buffer_from_host(client_, "f32[]", nullptr, 4, &buffer), "elements");
  EXPECT_NULL(hlokit_buffer_from_host(client_, "f32[]", &one, 4, nullptr), "buffer");
  EXPECT_NULL(hlokit_buffer_borrow_host(client_, "f32[]", nullptr, 4, nullptr, nullptr, &buffer),
              "elements");
  EXPECT_NULL(hlokit_buffer_from_text(client_, nullptr, &buffer), "literal");
  EXPECT_NULL(hlokit_buffer_to_host(client_, nullptr, nullptr, nullptr, 0), "buffer");
  EXPECT_NULL(hlokit_buffer_tuple_element(nullptr, 0, &buffer), "buffer");
  EXPECT_NULL(hlokit_compile_text(client_, nullptr, nullptr, &program), "hlo_text");
  EXPECT_NULL(hlokit_compile_proto(client_, nullptr, 3, nullptr, &program), "bytes");
  EXPECT_NULL(hlokit_compile(client_, nullptr, nullptr, &program), "computation");
  EXPECT_NULL(hlokit_program_load(client_, nullptr, 3, &program), "bytes");
  EXPECT_NULL(hlokit_program_serialize(nullptr, &bytes, &size), "program");
  EXPECT_NULL(hlokit_program_text(nullptr, &bytes), "program");
  EXPECT_NULL(hlokit_execute(nullptr, nullptr, 0, &buffer), "program");
  EXPECT_NULL(hlokit_execute_async(nullptr, nullptr, 0, &pending), "program");
  EXPECT_NULL(hlokit_execute_donating(nullptr, nullptr, 0, &buffer), "program");
  EXPECT_NULL(hlokit_execute_replicated(nullptr, nullptr, 0, &buffer), "program");
  EXPECT_NULL(hlokit_pending_wait(nullptr, &buffer), "pending");
  EXPECT_NULL(hlokit_transfer_to_infeed(client_, 0, nullptr), "item");
  EXPECT_NULL(hlokit_transfer_from_outfeed(nullptr, 0, 0, &buffer), "client");
  EXPECT_NULL(hlokit_register_custom_call("target", nullptr), "function");
  EXPECT_NULL(hlokit_load_custom_calls(nullptr), "path");
  EXPECT_NULL(hlokit_builder_build(nullptr, HLOKIT_NO_VALUE, &computation), "builder");
  EXPECT_NULL(hlokit_computation_scalar("add", nullptr, &computation), "element_type");
  EXPECT_NULL(hlokit_computation_from_text(nullptr, &computation), "hlo_text");
  EXPECT_NULL(hlokit_computation_text(nullptr, &bytes), "computation");
  EXPECT_NULL(hlokit_computation_shape(nullptr, &bytes), "computation");
  EXPECT_NULL(hlokit_computation_get_stats(nullptr, nullptr), "computation");
  EXPECT_NULL(hlokit_snapshot_execution(client_, nullptr, nullptr, 0, &bytes, &size),
              "computation");
  EXPECT_NULL(hlokit_snapshot_load(client_, nullptr, 3, &computation, &buffer, &buffer), "bytes");
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(hlokit_builder_parameter(nullptr, 0, "f32[]", "x"), HLOKIT_NO_VALUE);
  EXPECT_EQ(hlokit_builder_shape(nullptr, 0), nullptr);
}

// The message of a builder after `call`, which gives no value.
template <typename Call>
std::string BuilderMessage(const Call& call) {
  hlokit_builder* b = hlokit_builder_create(nullptr);
  EXPECT_EQ(call(b), HLOKIT_NO_VALUE);
  const std::string message = Message(hlokit_builder_error(b));
  hlokit_builder_free(b);
  return message;
}

TEST_F(CApiHostileTest, BuildersKeepWhatWasWrong) {
  EXPECT_EQ(BuilderMessage([](auto* b) { return hlokit_builder_parameter(b, 0, nullptr, "x"); }),
            "shape is null");
  EXPECT_EQ(BuilderMessage([](auto* b) { return hlokit_builder_operation(b, nullptr); }),
            "operation is null");
  EXPECT_EQ(BuilderMessage([](auto* b) {
              hlokit_operation operation = HLOKIT_OPERATION_INIT;
              operation.opcode = "tuple";
              operation.operand_count = 7;
              return hlokit_builder_operation(b, &operation);
            }),
            "operands is null");
  EXPECT_THAT(BuilderMessage([](auto* b) {
                hlokit_operation operation = HLOKIT_OPERATION_INIT;
                const hlokit_value x = hlokit_builder_parameter(b, 0, "f32[2]", "x");
                operation.opcode = "negate";
                operation.operands = &x;
                operation.operand_count = 1;
                operation.attributes = "\n}\nE { ROOT i = s32[4] iota(), iota_dimension=0";
                return hlokit_builder_operation(b, &operation);
              }),
              testing::Not(""));
  EXPECT_THAT(BuilderMessage([](auto* b) {
                hlokit_operation operation = HLOKIT_OPERATION_INIT;
                const hlokit_value x = hlokit_builder_parameter(b, 0, "f32[2]", "x");
                operation.opcode = "negate";
                operation.operands = &x;
                operation.operand_count = 1;
                operation.attributes = "metadata={}\n ROOT i = s32[4] iota(), iota_dimension=0";
                return hlokit_builder_operation(b, &operation);
              }),
              testing::Not(""));
  EXPECT_THAT(BuilderMessage([](auto* b) {
                return hlokit_builder_parameter(b, std::numeric_limits<int64_t>::max(), "f32[]",
                                                "x");
              }),
              HasSubstr("out of range"));
  EXPECT_THAT(BuilderMessage([](auto* b) {
                return hlokit_builder_constant(b, "f32[99999999999999]", "", SIZE_MAX);
              }),
              HasSubstr("bytes"));
}

TEST_F(CApiHostileTest, SizesAndNumbersOutOfReach) {
  hlokit_buffer* buffer = nullptr;
  hlokit_program* program = nullptr;
  const char few[8] = {};
  EXPECT_NE(Message(hlokit_buffer_from_host(client_, "f32[4611686018427387904]", few, 0, &buffer)),
            "");
  EXPECT_NE(Message(hlokit_buffer_from_host(client_, "(f32[], f32[])", few, 8, &buffer)), "");
  EXPECT_NE(Message(hlokit_buffer_from_host(client_, "f32[<=2]", few, 8, &buffer)), "");
  EXPECT_NE(Message(hlokit_buffer_from_text(client_, "f32[1000000000000] 0", &buffer)), "");
  ASSERT_EQ(Message(hlokit_buffer_from_text(client_, "(f32[2] {1, 2}, s32[] 3)", &buffer)), "");
  hlokit_buffer* element = nullptr;
  for (const int64_t index : {int64_t{-1}, int64_t{2}, std::numeric_limits<int64_t>::min()})
    EXPECT_THAT(Message(hlokit_buffer_tuple_element(buffer, index, &element)),
                HasSubstr("no element"));
  ASSERT_EQ(Message(hlokit_compile_text(client_, "ENTRY e { ROOT x = f32[2] parameter(0) }",
                                        nullptr, &program)),
            "");
  const hlokit_buffer* tuple = buffer;
  hlokit_buffer* result = nullptr;
  EXPECT_NE(Message(hlokit_execute(program, &tuple, 1, &result)), "");
  EXPECT_NE(Message(hlokit_execute(program, &tuple, 0, &result)), "");
  const hlokit_buffer* none = nullptr;
  EXPECT_THAT(Message(hlokit_execute(program, &none, 1, &result)), HasSubstr("null"));
  EXPECT_EQ(result, nullptr);
  for (const int64_t device : {int64_t{-1}, int64_t{1} << 40}) {
    EXPECT_NE(Message(hlokit_transfer_to_infeed(client_, device, buffer)), "");
    EXPECT_NE(Message(hlokit_transfer_from_outfeed(client_, device, 0, &result)), "");
  }
  hlokit_compile_options options = HLOKIT_COMPILE_OPTIONS_INIT;
  options.opt_level = 9;
  EXPECT_NE(Message(hlokit_compile_text(client_, "", &options, &program)), "");
  options.opt_level = 2;
  const char* layouts[] = {nullptr};
  options.argument_layouts = layouts;
  options.argument_layout_count = 1;
  EXPECT_NE(Message(hlokit_compile_text(client_, "ENTRY e { ROOT x = f32[2] parameter(0) }",
                                        &options, &program)),
            "");
  for (const std::string& damaged : {std::string("not a program"), std::string(100, '\xff')})
    EXPECT_NE(Message(hlokit_program_load(client_, damaged.data(), damaged.size(), &program)), "");
  hlokit_program_free(program);
  hlokit_buffer_free(buffer);
}

// Names are text for people: none ends a computation's text early.
TEST_F(CApiHostileTest, NamesOfAllKinds) {
  for (const char* name : {"", "a b", "x}\nENTRY", "%", "\xff\xfe", "1"}) {
    hlokit_builder* b = hlokit_builder_create(name);
    hlokit_builder_parameter(b, 0, "f32[2]", name);
    hlokit_computation* computation = nullptr;
    const std::string error = Message(hlokit_builder_build(b, HLOKIT_NO_VALUE, &computation));
    hlokit_builder_free(b);
    ASSERT_EQ(error, "") << name;
    char* text = nullptr;
    ASSERT_EQ(Message(hlokit_computation_text(computation, &text)), "");
    hlokit_computation* again = nullptr;
    EXPECT_EQ(Message(hlokit_computation_from_text(text, &again)), "") << text;
    hlokit_computation_free(again);
    hlokit_bytes_free(text);
    hlokit_computation_free(computation);
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
