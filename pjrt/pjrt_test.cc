// The table of functions as a framework calls it: a client, an array, a program, its result; and
// what it refuses.
#include <cstring>
#include <string>
#include <vector>

#include "ffi/xla_ffi_abi.h"
#include "gtest/gtest.h"
#include "pjrt/abi/api.h"
#include "pjrt/abi/ffi.h"
#include "pjrt/objects.h"

namespace hlokit {
namespace {

constexpr char kProgram[] =
    "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %y = stablehlo.add %x, %x : tensor<3xf32>\n"
    "  return %y : tensor<3xf32>\n}\n";

template <typename Args>
Args Sized() {
  Args args = {};
  args.struct_size = sizeof(Args);
  return args;
}

// The text of an error, which is freed; empty for none.
std::string TextOf(PJRT_Error* error) {
  if (error == nullptr) return "";
  auto message = Sized<PJRT_Error_Message_Args>();
  message.error = error;
  PjrtApi()->PJRT_Error_Message(&message);
  std::string text(message.message, message.message_size);
  auto destroy = Sized<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  PjrtApi()->PJRT_Error_Destroy(&destroy);
  return text;
}

class PjrtTest : public testing::Test {
 protected:
  PjrtTest() {
    auto create = Sized<PJRT_Client_Create_Args>();
    EXPECT_EQ(TextOf(api_.PJRT_Client_Create(&create)), "");
    client_ = create.client;
  }
  ~PjrtTest() override {
    auto destroy = Sized<PJRT_Client_Destroy_Args>();
    destroy.client = client_;
    EXPECT_EQ(TextOf(api_.PJRT_Client_Destroy(&destroy)), "");
  }

  std::string Compile(std::string code, std::string format, PJRT_LoadedExecutable** executable) {
    auto program = Sized<PJRT_Program>();
    program.code = code.data();
    program.code_size = code.size();
    program.format = format.data();
    program.format_size = format.size();
    auto compile = Sized<PJRT_Client_Compile_Args>();
    compile.client = client_;
    compile.program = &program;
    compile.compile_options = "";
    std::string error = TextOf(api_.PJRT_Client_Compile(&compile));
    *executable = compile.executable;
    return error;
  }

  const PJRT_Api& api_ = *PjrtApi();
  PJRT_Client* client_ = nullptr;
};

TEST_F(PjrtTest, EveryFunctionAnswers) {
#define HLOKIT_PJRT_SLOT(name, handle)           \
  EXPECT_NE(api_.PJRT_##name, nullptr) << #name; \
  EXPECT_NE(TextOf(api_.PJRT_##name(nullptr)), "") << #name;
#define HLOKIT_PJRT_ABSENT(name, reason) HLOKIT_PJRT_SLOT(name, kNone)
#include "pjrt/abi/slots.def"
#undef HLOKIT_PJRT_SLOT
#undef HLOKIT_PJRT_ABSENT
}

// 138 functions of eight bytes behind the sizes, the chain and the version, as the interface's
// 0.112.
TEST_F(PjrtTest, TheTableHasTheInterfacesSize) {
  EXPECT_EQ(sizeof(PJRT_Api), 16 + 24 + 138 * 8);
  EXPECT_EQ(api_.pjrt_api_version.major_version, 0);
  EXPECT_EQ(api_.pjrt_api_version.minor_version, 112);
}

TEST_F(PjrtTest, RunsAProgram) {
  PJRT_LoadedExecutable* executable = nullptr;
  ASSERT_EQ(Compile(kProgram, "mlir", &executable), "");
  const std::vector<float> values = {1, 2, 3};
  const int64_t dims[] = {3};
  auto give = Sized<PJRT_Client_BufferFromHostBuffer_Args>();
  give.client = client_;
  give.data = values.data();
  give.type = TypeToPjrt(ElementType::kF32);
  give.dims = dims;
  give.num_dims = 1;
  give.device = client_->device_list[0];
  ASSERT_EQ(TextOf(api_.PJRT_Client_BufferFromHostBuffer(&give)), "");

  PJRT_Buffer* const arguments[] = {give.buffer};
  PJRT_Buffer* const* const argument_lists[] = {arguments};
  PJRT_Buffer* outputs[] = {nullptr};
  PJRT_Buffer** const output_lists[] = {outputs};
  auto options = Sized<PJRT_ExecuteOptions>();
  auto execute = Sized<PJRT_LoadedExecutable_Execute_Args>();
  execute.executable = executable;
  execute.options = &options;
  execute.argument_lists = argument_lists;
  execute.num_devices = 1;
  execute.num_args = 1;
  execute.output_lists = output_lists;
  ASSERT_EQ(TextOf(api_.PJRT_LoadedExecutable_Execute(&execute)), "");

  std::vector<float> results(3);
  auto take = Sized<PJRT_Buffer_ToHostBuffer_Args>();
  take.src = outputs[0];
  take.dst = results.data();
  take.dst_size = sizeof(float) * results.size();
  ASSERT_EQ(TextOf(api_.PJRT_Buffer_ToHostBuffer(&take)), "");
  EXPECT_EQ(results, (std::vector<float>{2, 4, 6}));

  // The short way leaves to the long one what it does not take.
  auto other = give;
  const int64_t two[] = {2};
  other.dims = two;
  ASSERT_EQ(TextOf(api_.PJRT_Client_BufferFromHostBuffer(&other)), "");
  PJRT_Buffer* const wrong[] = {other.buffer};
  PJRT_Buffer* const* const wrong_lists[] = {wrong};
  execute.argument_lists = wrong_lists;
  EXPECT_EQ(TextOf(api_.PJRT_LoadedExecutable_Execute(&execute)),
            "argument 0 is f32[2], expected f32[3]");
  other.buffer->Release();
  EXPECT_NE(TextOf(api_.PJRT_LoadedExecutable_Execute(&execute)).find("deleted or donated"),
            std::string::npos);
  execute.argument_lists = argument_lists;
  execute.num_args = 0;
  EXPECT_EQ(TextOf(api_.PJRT_LoadedExecutable_Execute(&execute)),
            "the program takes 1 arguments, not 0");
  for (PJRT_Buffer* buffer : {give.buffer, other.buffer, outputs[0]}) {
    auto destroy = Sized<PJRT_Buffer_Destroy_Args>();
    destroy.buffer = buffer;
    EXPECT_EQ(TextOf(api_.PJRT_Buffer_Destroy(&destroy)), "");
  }
  for (PJRT_Event* event : {give.done_with_host_buffer, other.done_with_host_buffer, take.event}) {
    auto destroy = Sized<PJRT_Event_Destroy_Args>();
    destroy.event = event;
    EXPECT_EQ(TextOf(api_.PJRT_Event_Destroy(&destroy)), "");
  }
  auto destroy = Sized<PJRT_LoadedExecutable_Destroy_Args>();
  destroy.executable = executable;
  EXPECT_EQ(TextOf(api_.PJRT_LoadedExecutable_Destroy(&destroy)), "");
}

// Gives what the run's user data of type 77 says, as an array of one number.
XlaFfiError* GiveLentNumber(XlaFfiCallFrame* frame) {
  if (frame->extensions != nullptr) {
    reinterpret_cast<XlaFfiMetadataExtension*>(frame->extensions)->metadata->version.minor = 3;
    return nullptr;
  }
  XlaFfiTypeId type = {77};
  XlaFfiContextGetArgs get = {};
  get.context = frame->context;
  get.type = &type;
  if (XlaFfiError* error = frame->api->get_context(&get)) return error;
  const auto* const out = static_cast<const XlaFfiBuffer*>(frame->results.buffers[0]);
  static_cast<float*>(out->data)[0] = *static_cast<float*>(get.data);
  return nullptr;
}

TEST_F(PjrtTest, HandlersSeeUserData) {
  const auto& ffi = *reinterpret_cast<const PJRT_FFI_Extension*>(api_.extension_start);
  ASSERT_EQ(ffi.base.type, PJRT_Extension_Type_FFI);
  const std::string target = "test.lent_number";
  auto handler = Sized<PJRT_FFI_Register_Handler_Args>();
  handler.target_name = target.data();
  handler.target_name_size = target.size();
  handler.api_version = 1;
  handler.handler = reinterpret_cast<void*>(GiveLentNumber);
  ASSERT_EQ(TextOf(ffi.register_handler(&handler)), "");
  PJRT_LoadedExecutable* executable = nullptr;
  ASSERT_EQ(Compile("func.func @main() -> tensor<1xf32> {\n"
                    "  %y = stablehlo.custom_call @test.lent_number() "
                    "{api_version = 4 : i32, has_side_effect = true} : () -> tensor<1xf32>\n"
                    "  return %y : tensor<1xf32>\n}\n",
                    "mlir", &executable),
            "");

  auto create = Sized<PJRT_ExecuteContext_Create_Args>();
  ASSERT_EQ(TextOf(api_.PJRT_ExecuteContext_Create(&create)), "");
  float lent = 2.5f;
  auto add = Sized<PJRT_FFI_UserData_Add_Args>();
  add.context = create.context;
  add.user_data = {77, &lent, [](void* data) { *static_cast<float*>(data) = 0; }};
  ASSERT_EQ(TextOf(ffi.user_data_add(&add)), "");
  EXPECT_EQ(TextOf(ffi.user_data_add(&add)),
            "User data with type id 77 already exists in execution context");

  auto options = Sized<PJRT_ExecuteOptions>();
  options.context = create.context;
  PJRT_Buffer* output = nullptr;
  PJRT_Buffer** const output_lists[] = {&output};
  PJRT_Buffer* const* const argument_lists[] = {nullptr};
  auto execute = Sized<PJRT_LoadedExecutable_Execute_Args>();
  execute.executable = executable;
  execute.options = &options;
  execute.argument_lists = argument_lists;
  execute.num_devices = 1;
  execute.output_lists = output_lists;
  ASSERT_EQ(TextOf(api_.PJRT_LoadedExecutable_Execute(&execute)), "");
  float result = 0;
  auto take = Sized<PJRT_Buffer_ToHostBuffer_Args>();
  take.src = output;
  take.dst = &result;
  take.dst_size = sizeof(result);
  ASSERT_EQ(TextOf(api_.PJRT_Buffer_ToHostBuffer(&take)), "");
  EXPECT_EQ(result, 2.5f);
  options.context = nullptr;
  EXPECT_NE(TextOf(api_.PJRT_LoadedExecutable_Execute(&execute)).find("User data with type id 77"),
            std::string::npos);

  auto forget = Sized<PJRT_ExecuteContext_Destroy_Args>();
  forget.context = create.context;
  EXPECT_EQ(TextOf(api_.PJRT_ExecuteContext_Destroy(&forget)), "");
  EXPECT_EQ(lent, 0);
  auto drop = Sized<PJRT_Buffer_Destroy_Args>();
  drop.buffer = output;
  EXPECT_EQ(TextOf(api_.PJRT_Buffer_Destroy(&drop)), "");
  auto end = Sized<PJRT_Event_Destroy_Args>();
  end.event = take.event;
  EXPECT_EQ(TextOf(api_.PJRT_Event_Destroy(&end)), "");
  auto destroy = Sized<PJRT_LoadedExecutable_Destroy_Args>();
  destroy.executable = executable;
  EXPECT_EQ(TextOf(api_.PJRT_LoadedExecutable_Destroy(&destroy)), "");
}

TEST_F(PjrtTest, RefusesWhatItCannotRead) {
  PJRT_LoadedExecutable* executable = nullptr;
  EXPECT_EQ(Compile("x", "onnx", &executable),
            "programs of format \"onnx\"; \"mlir\" and \"hlo\" are read");
  EXPECT_NE(Compile("func.func @main() { nothing }", "mlir", &executable), "");
  EXPECT_NE(Compile("\xff\xff", "hlo", &executable), "");
  auto short_args = Sized<PJRT_Client_Compile_Args>();
  short_args.struct_size = 8;
  EXPECT_NE(TextOf(api_.PJRT_Client_Compile(&short_args)), "");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
