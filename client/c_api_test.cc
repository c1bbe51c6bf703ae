// The C API: borrowed memory, and computations built one operation after another.
#include "client/c_api.h"

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

using Computation = std::unique_ptr<hlokit_computation, decltype(&hlokit_computation_free)>;

class CApiBuilderTest : public testing::Test {
 protected:
  CApiBuilderTest() { EXPECT_EQ(Message(hlokit_client_create("cpu", &client_)), ""); }
  ~CApiBuilderTest() override {
    for (hlokit_buffer* buffer : buffers_) hlokit_buffer_free(buffer);
    hlokit_builder_free(b_);
    hlokit_client_free(client_);
  }

  hlokit_value P(int64_t number, const char* shape) {
    return hlokit_builder_parameter(b_, number, shape, ("p" + std::to_string(number)).c_str());
  }
  hlokit_value Op(const char* opcode, std::vector<hlokit_value> operands,
                  const char* attributes = nullptr, const char* shape = nullptr,
                  std::vector<const hlokit_computation*> computations = {}) {
    hlokit_operation operation = HLOKIT_OPERATION_INIT;
    operation.opcode = opcode;
    operation.operands = operands.data();
    operation.operand_count = operands.size();
    operation.attributes = attributes;
    operation.shape = shape;
    operation.computations = computations.data();
    operation.computation_count = computations.size();
    return hlokit_builder_operation(b_, &operation);
  }
  static Computation Scalar(const char* opcode) {
    hlokit_computation* made = nullptr;
    EXPECT_EQ(Message(hlokit_computation_scalar(opcode, "f32", &made)), "");
    return Computation(made, hlokit_computation_free);
  }
  static Computation FromText(const char* text) {
    hlokit_computation* made = nullptr;
    EXPECT_EQ(Message(hlokit_computation_from_text(text, &made)), "");
    return Computation(made, hlokit_computation_free);
  }
  Computation Build() {
    hlokit_computation* made = nullptr;
    EXPECT_EQ(Message(hlokit_builder_build(b_, HLOKIT_NO_VALUE, &made)), "");
    return Computation(made, hlokit_computation_free);
  }
  hlokit_buffer* Buffer(const char* literal) {
    buffers_.push_back(nullptr);
    EXPECT_EQ(Message(hlokit_buffer_from_text(client_, literal, &buffers_.back())), "");
    return buffers_.back();
  }
  // The floats that the computation in b_ gives.
  std::vector<float> Run(const std::vector<const hlokit_buffer*>& arguments) {
    const Computation computation = Build();
    hlokit_program* program = nullptr;
    if (computation == nullptr) return {};
    EXPECT_EQ(Message(hlokit_compile(client_, computation.get(), nullptr, &program)), "");
    buffers_.push_back(nullptr);
    EXPECT_EQ(
        Message(hlokit_execute(program, arguments.data(), arguments.size(), &buffers_.back())), "");
    hlokit_program_free(program);
    const auto* values = static_cast<const float*>(hlokit_buffer_data(buffers_.back()));
    return std::vector<float>(values, values + hlokit_buffer_size(buffers_.back()) / 4);
  }

  hlokit_client* client_ = nullptr;
  hlokit_builder* b_ = hlokit_builder_create("test");
  std::vector<hlokit_buffer*> buffers_;
};

TEST_F(CApiBuilderTest, BinaryOperationsBroadcast) {
  const hlokit_value x = P(0, "f32[2,3]");
  const float row[] = {10, 20, 30};
  const hlokit_value constant = hlokit_builder_constant(b_, "f32[3]", row, sizeof(row));
  const int64_t one = 1;
  const hlokit_value sum = hlokit_builder_binary(b_, "add", x, constant, &one, 1, nullptr);
  const hlokit_value half = hlokit_builder_constant_text(b_, "f32[] 0.5");
  hlokit_builder_binary(b_, "multiply", sum, half, nullptr, 0, nullptr);
  EXPECT_STREQ(hlokit_builder_shape(b_, sum), "f32[2,3]{1,0}");
  EXPECT_THAT(Run({Buffer("f32[2,3] {{0, 2, 4}, {6, 8, 10}}")}), ElementsAre(5, 11, 17, 8, 14, 20));
}

TEST_F(CApiBuilderTest, OperationsTakeAttributesAndComputations) {
  const hlokit_value x = P(0, "f32[2,3]");
  const hlokit_value product =
      Op("dot", {x, x}, "lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  EXPECT_STREQ(hlokit_builder_shape(b_, product), "f32[2,2]{1,0}");
  const hlokit_value zero = hlokit_builder_constant_text(b_, "f32[] 0");
  const Computation add = Scalar("add");
  const hlokit_value sums = Op("reduce", {product, zero}, "dimensions={1}", nullptr, {add.get()});
  Op("reshape", {sums}, nullptr, "f32[1,2]");
  EXPECT_THAT(Run({Buffer("f32[2,3] {{1, 2, 3}, {0, 1, 0}}")}), ElementsAre(16, 3));
}

TEST_F(CApiBuilderTest, LoopsAndBranchesCallComputations) {
  const Computation condition = FromText(
      "ENTRY c { s = (s32[], f32[2]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " n = s32[] constant(3)\n ROOT r = pred[] compare(i, n), direction=LT }");
  const Computation body = FromText(
      "ENTRY b { s = (s32[], f32[2]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " one = s32[] constant(1)\n j = s32[] add(i, one)\n"
      " x = f32[2] get-tuple-element(s), index=1\n y = f32[2] add(x, x)\n"
      " ROOT r = (s32[], f32[2]) tuple(j, y) }");
  const hlokit_value zero = hlokit_builder_constant_text(b_, "s32[] 0");
  const hlokit_value init = Op("tuple", {zero, P(0, "f32[2]")});
  const hlokit_value loop = Op("while", {init}, nullptr, nullptr, {condition.get(), body.get()});
  Op("get-tuple-element", {loop}, "index=1");
  EXPECT_THAT(Run({Buffer("f32[2] {1, -2}")}), ElementsAre(8, -16));
}

TEST_F(CApiBuilderTest, ComparesStretchToo) {
  const hlokit_value x = P(0, "f32[3]");
  const hlokit_value zero = hlokit_builder_constant_text(b_, "f32[] 0");
  const hlokit_value below =
      hlokit_builder_binary(b_, "compare", x, zero, nullptr, 0, "direction=LT");
  EXPECT_STREQ(hlokit_builder_shape(b_, below), "pred[3]{0}");
  Op("select", {below, Op("negate", {x}), x});
  EXPECT_THAT(Run({Buffer("f32[3] {-1, 2, -3}")}), ElementsAre(1, 2, 3));
}

TEST_F(CApiBuilderTest, TextHasWhatWasSaid) {
  Op("negate", {P(0, "f32[2]")},
     "sharding={replicated}, metadata={op_name=\"here\"}, frontend_attributes={a=\"b\"}");
  const Computation computation = Build();
  char* text = nullptr;
  ASSERT_EQ(Message(hlokit_computation_text(computation.get(), &text)), "");
  EXPECT_THAT(text, HasSubstr("negate(%p0), sharding={replicated}, frontend_attributes={a=\"b\"}, "
                              "metadata={op_name=\"here\"}"));
  hlokit_bytes_free(text);
}

TEST_F(CApiBuilderTest, TheFirstErrorIsKept) {
  const hlokit_value x = P(0, "f32[2]");
  EXPECT_EQ(hlokit_builder_error(b_), nullptr);
  const hlokit_value wrong = Op("transpose", {x}, "dimensions={1}");
  EXPECT_EQ(wrong, HLOKIT_NO_VALUE);
  EXPECT_EQ(Op("negate", {wrong}), HLOKIT_NO_VALUE);
  EXPECT_EQ(hlokit_builder_shape(b_, x), nullptr);  // nothing goes on
  hlokit_error* error = hlokit_builder_error(b_);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(hlokit_error_code(error), 3);
  EXPECT_THAT(Message(error), HasSubstr("[transpose-c"));
  hlokit_computation* none = nullptr;
  EXPECT_THAT(Message(hlokit_builder_build(b_, x, &none)), HasSubstr("transpose"));
  EXPECT_EQ(none, nullptr);
}

// The message of an operation that one builder refuses.
std::string Refusal(const char* opcode, const char* attributes, size_t computations) {
  hlokit_builder* b = hlokit_builder_create("refused");
  const hlokit_value x = hlokit_builder_parameter(b, 0, "f32[2]", "x");
  hlokit_computation* add = nullptr;
  EXPECT_EQ(Message(hlokit_computation_scalar("add", "f32", &add)), "");
  const hlokit_computation* called[] = {add, add};
  hlokit_operation operation = HLOKIT_OPERATION_INIT;
  operation.opcode = opcode;
  operation.operands = &x;
  operation.operand_count = 1;
  operation.attributes = attributes;
  operation.computations = called;
  operation.computation_count = computations;
  EXPECT_EQ(hlokit_builder_operation(b, &operation), HLOKIT_NO_VALUE);
  const std::string message = Message(hlokit_builder_error(b));
  hlokit_builder_free(b);
  hlokit_computation_free(add);
  return message;
}

TEST_F(CApiBuilderTest, WhatIsNoOperationIsRefused) {
  EXPECT_THAT(Refusal("frobnicate", nullptr, 0), HasSubstr("no opcode \"frobnicate\""));
  EXPECT_THAT(Refusal(nullptr, nullptr, 0), HasSubstr("no opcode"));
  EXPECT_THAT(Refusal("parameter", nullptr, 0), HasSubstr("function of its own"));
  EXPECT_THAT(Refusal("negate", "direction=LT", 0), HasSubstr("direction"));
  EXPECT_THAT(Refusal("negate", "}", 0), HasSubstr("negate"));
  EXPECT_THAT(Refusal("negate", nullptr, 1), HasSubstr("calls 0 computations"));
  EXPECT_THAT(Refusal("map", "dimensions={0}", 0), HasSubstr("to_apply"));
  EXPECT_THAT(Refusal("add", nullptr, 0), HasSubstr("add takes 2 operands"));
  hlokit_computation* none = nullptr;
  EXPECT_THAT(Message(hlokit_computation_scalar("dot", "f32", &none)), HasSubstr("dot"));
  EXPECT_THAT(Message(hlokit_computation_scalar("add", "f33", &none)), HasSubstr("f33"));
  EXPECT_NE(Message(hlokit_computation_from_text("nothing", &none)), "");
}

TEST_F(CApiBuilderTest, DonatedBuffersBecomeResults) {
  hlokit_compile_options options = HLOKIT_COMPILE_OPTIONS_INIT;
  options.donate = 1;
  hlokit_program* step = nullptr;
  ASSERT_EQ(Message(hlokit_compile_text(client_, R"(
HloModule step, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  state = f32[512]{0} parameter(0)
  by = f32[512]{0} parameter(1)
  ROOT next = f32[512]{0} add(state, by)
})",
                                        &options, &step)),
            "");
  const std::vector<float> zeros(512, 0), twos(512, 2);
  hlokit_buffer *state = nullptr, *by = nullptr;
  ASSERT_EQ(Message(hlokit_buffer_from_host(client_, "f32[512]", zeros.data(), 2048, &state)), "");
  const void* const place = hlokit_buffer_data(state);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Message(hlokit_buffer_from_host(client_, "f32[512]", twos.data(), 2048, &by)), "");
    hlokit_buffer* arguments[] = {state, by};
    ASSERT_EQ(Message(hlokit_execute_donating(step, arguments, 2, &state)), "");
    EXPECT_EQ(arguments[0], nullptr);
    EXPECT_EQ(arguments[1], nullptr);
  }
  EXPECT_EQ(hlokit_buffer_data(state), place);
  EXPECT_EQ(static_cast<const float*>(hlokit_buffer_data(state))[511], 6);
  hlokit_buffer* missing[] = {state, nullptr};
  EXPECT_NE(Message(hlokit_execute_donating(step, missing, 2, &state)), "");
  EXPECT_EQ(missing[0], nullptr);
  // Options of a program built before there was donation.
  options.struct_size = 24;
  hlokit_program* plain = nullptr;
  EXPECT_EQ(Message(hlokit_compile_text(client_, "ENTRY e { ROOT x = f32[] parameter(0) }",
                                        &options, &plain)),
            "");
  hlokit_program_free(plain);
  hlokit_program_free(step);
}

TEST_F(CApiBuilderTest, MemoryIsBorrowedUntilItIsReleased) {
  struct Host {
    alignas(64) float elements[4] = {1, 2, 3, 4};
    int released = 0;
  } host;
  const auto release = [](void* user) { ++static_cast<Host*>(user)->released; };
  hlokit_buffer* lent = nullptr;
  EXPECT_THAT(Message(hlokit_buffer_borrow_host(client_, "f32[4]", host.elements, 15, release,
                                                &host, &lent)),
              HasSubstr("15 bytes"));
  EXPECT_EQ(host.released, 0);
  ASSERT_EQ(Message(hlokit_buffer_borrow_host(client_, "f32[4]", host.elements, 16, release, &host,
                                              &lent)),
            "");
  EXPECT_EQ(hlokit_buffer_data(lent), host.elements);
  Op("negate", {P(0, "f32[4]")});
  EXPECT_THAT(Run({lent}), ElementsAre(-1, -2, -3, -4));
  host.elements[3] = 5;
  EXPECT_THAT(Run({lent}), ElementsAre(-1, -2, -3, -5));
  hlokit_buffer_free(lent);
  EXPECT_EQ(host.released, 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
