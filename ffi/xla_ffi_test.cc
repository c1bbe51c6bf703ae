// Typed custom calls: attributes as the interface has them, stages, states, errors.
#include "ffi/xla_ffi.h"

#include <cstring>
#include <memory>
#include <string>

#include "ffi/registry.h"
#include "ffi/surroundings.h"
#include "ffi/xla_ffi_attributes.h"
#include "gtest/gtest.h"
#include "support/status.h"

namespace hlokit {
namespace {

// An attribute as text: its kind, type and bytes in hexadecimal.
std::string Shown(const XlaFfiAttrs& attributes) {
  std::string out;
  const auto bytes = [&](const void* data, size_t size) {
    for (size_t i = 0; i < size; ++i)
      absl::StrAppend(&out, absl::Hex(static_cast<const uint8_t*>(data)[i], absl::kZeroPad2));
  };
  constexpr size_t kWidths[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0, 8, 2};
  for (int64_t i = 0; i < attributes.size; ++i) {
    const XlaFfiSpan& name = *attributes.names[i];
    absl::StrAppend(&out, i == 0 ? "" : " ", absl::string_view(name.data, name.size), "=");
    switch (attributes.kinds[i]) {
      case XlaFfiAttrKind::kScalar: {
        const auto& scalar = *static_cast<const XlaFfiScalar*>(attributes.values[i]);
        absl::StrAppend(&out, scalar.type, ":");
        bytes(scalar.value, kWidths[scalar.type]);
        break;
      }
      case XlaFfiAttrKind::kArray: {
        const auto& array = *static_cast<const XlaFfiArray*>(attributes.values[i]);
        absl::StrAppend(&out, array.type, "[", array.size, "]:");
        bytes(array.data, array.size * kWidths[array.type]);
        break;
      }
      case XlaFfiAttrKind::kString: {
        const auto& text = *static_cast<const XlaFfiSpan*>(attributes.values[i]);
        absl::StrAppend(&out, "'", absl::string_view(text.data, text.size), "'");
        break;
      }
      case XlaFfiAttrKind::kDictionary:
        absl::StrAppend(&out, "{", Shown(*static_cast<const XlaFfiAttrs*>(attributes.values[i])),
                        "}");
    }
  }
  return out;
}

std::string Parsed(absl::string_view text) {
  XlaFfiAttributes attributes;
  const absl::Status status = attributes.Parse(text);
  return status.ok() ? Shown(attributes.attributes()) : std::string(status.message());
}

TEST(XlaFfiAttributesTest, HaveTheirTypes) {
  EXPECT_EQ(Parsed(""), "");
  EXPECT_EQ(Parsed("{}"), "");
  EXPECT_EQ(Parsed("{n = 3 : i32, a = -2}"), "a=5:feffffffffffffff n=4:03000000");
  EXPECT_EQ(Parsed("{u = 76 : ui8, on, off = false}"), "off=1:00 on=1:01 u=6:4c");
  EXPECT_EQ(Parsed("{x = 5.000000e-01 : f32, y = 1.5, z = 0x7FC00000 : f32}"),
            "x=11:0000003f y=12:000000000000f83f z=11:0000c07f");
  EXPECT_EQ(Parsed("{h = 1.0 : f16, t = 6.0e-8 : f16, b = 1.0 : bf16}"),
            "b=16:803f h=10:003c t=10:0100");
  EXPECT_EQ(Parsed("{m = 18446744073709551615 : ui64}"), "m=9:ffffffffffffffff");
  EXPECT_EQ(Parsed(R"({s = "a\22\0Ab", r = @f, "q r" = {v = 1 : i8}})"),
            "q r={v=2:01} r='f' s='a\"\nb'");
}

TEST(XlaFfiAttributesTest, Arrays) {
  EXPECT_EQ(Parsed("{a = array<i32: 1, -1>, e = array<i64>}"), "a=4[2]:01000000ffffffff e=5[0]:");
  EXPECT_EQ(Parsed("{a = array<i1: true, false>}"), "a=1[2]:0100");
  EXPECT_EQ(Parsed("{a = dense<[[1, 2]]> : tensor<1x2xi16>, b = dense<7> : tensor<3xui8>}"),
            "a=3[2]:01000200 b=6[3]:070707");
  EXPECT_EQ(Parsed("{a = dense<\"0x01000200\"> : tensor<2xi16>, l = [1 : i64, 2 : i64]}"),
            "a=3[2]:01000200 l=5[2]:01000000000000000200000000000000");
}

TEST(XlaFfiAttributesTest, OtherTextIsAnError) {
  for (const char* text :
       {"x", "{a", "{a = }", "{a = 1 : i33}", "{a = array<f32: x>}", "{a = 1} b", "{a = \"x}",
        "{a = dense<1>}", "{a = dense<[1, 2]> : tensor<3xi32>}", "{a = [1", "{= 1}",
        "{a = dense<1> : tensor<99999999999x99999999999xi8>}"})
    EXPECT_NE(Parsed(text).find("expected"), std::string::npos) << text << ": " << Parsed(text);
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{a = ";
  EXPECT_NE(Parsed(deep).find("expected less nesting"), std::string::npos);
}

// Adds `attribute + state` to an array of f32; the state counts what instantiate was told.
template <int kMinor = 3>
XlaFfiError* AddState(XlaFfiCallFrame* frame) {
  if (frame->extensions != nullptr) {
    XlaFfiMetadata& metadata =
        *reinterpret_cast<XlaFfiMetadataExtension*>(frame->extensions)->metadata;
    metadata.version.major = 0;
    metadata.version.minor = kMinor;
    return nullptr;
  }
  XlaFfiTypeId type = {7};
  XlaFfiStateArgs state = {};
  state.context = frame->context;
  state.type = &type;
  if (frame->stage == XlaFfiStage::kInstantiate) {
    static int made = 0;
    static int values[8];
    values[made] = 100 * (made + 1);
    state.state = &values[made++];
    return frame->api->set_state(&state);
  }
  if (XlaFfiError* error = frame->api->get_state(&state)) return error;
  const auto* const scalar = static_cast<const XlaFfiScalar*>(frame->attributes.values[0]);
  const auto* const in = static_cast<const XlaFfiBuffer*>(frame->arguments.buffers[0]);
  const auto* const out = static_cast<const XlaFfiBuffer*>(frame->results.buffers[0]);
  float add = 0;
  std::memcpy(&add, scalar->value, sizeof(add));
  if (add < 0) {
    XlaFfiErrorCreateArgs create = {};
    create.message = "less than nothing";
    create.code = 3;
    return frame->api->create_error(&create);
  }
  for (int64_t i = 0; i < in->dims[0]; ++i)
    static_cast<float*>(out->data)[i] = static_cast<const float*>(in->data)[i] + add +
                                        static_cast<float>(*static_cast<int*>(state.state));
  return nullptr;
}

// The first element of what the target gives for {1, 2} to `caller`, which keeps an error's text.
float Called(const char* target, const char* config, FfiCaller& caller) {
  float in[2] = {1, 2}, out[2] = {0, 0};
  const int64_t dims[] = {2}, order[] = {0};
  const hlokit_ffi_buffer argument = {"f32", 1, dims, order, in, sizeof(in)};
  const hlokit_ffi_buffer result = {"f32", 1, dims, order, out, sizeof(out)};
  hlokit_ffi_call call = {};
  call.target = target;
  call.backend_config = config;
  call.backend_config_size = static_cast<int64_t>(std::strlen(config));
  call.argument_count = call.result_count = 1;
  call.arguments = &argument;
  call.results = &result;
  call.caller = &caller;
  call.set_error = [](hlokit_ffi_call* c, const char* message) {
    static_cast<FfiCaller*>(c->caller)->error = message;
  };
  FindCustomCall(target)(&call);
  return out[0];
}

TEST(XlaFfiTest, RunsStagesWithTheirState) {
  const XlaFfiBundle bundle = {AddState<>, nullptr, nullptr, AddState<>};
  ASSERT_TRUE(RegisterXlaFfiHandler("test.add_state", bundle).ok());
  EXPECT_TRUE(RegisterXlaFfiHandler("test.add_state", bundle).ok());
  EXPECT_EQ(RegisterXlaFfiHandler("test.add_state", {nullptr, nullptr, nullptr, AddState<>}).code(),
            absl::StatusCode::kAlreadyExists);
  FfiStates states, of_another;
  FfiCaller first = {"", "a", &states}, second = {"", "b", &states}, other = {"", "a", &of_another};
  EXPECT_EQ(Called("test.add_state", "{by = 0.5 : f32}", first), 101.5f);
  EXPECT_EQ(Called("test.add_state", "{by = 0.5 : f32}", first), 101.5f);
  EXPECT_EQ(Called("test.add_state", "{by = 0.5 : f32}", second), 201.5f);
  EXPECT_EQ(Called("test.add_state", "{by = 0.5 : f32}", other), 301.5f);
  EXPECT_EQ(Called("test.add_state", "{by = 2.5 : f32}", first), 103.5f);
  EXPECT_EQ(first.error, "");
  Called("test.add_state", "{by = -1.0 : f32}", first);
  EXPECT_EQ(first.error, "less than nothing");
  Called("test.add_state", "{by = }", first);
  EXPECT_EQ(first.error, "character 7 of the attributes: expected a number");
}

int deleted_states = 0;

// Keeps a state whose deleter counts, and gives the number that user data of type 9 points to; what
// the table of functions says in its error otherwise.
XlaFfiError* GiveUserData(XlaFfiCallFrame* frame) {
  if (frame->extensions != nullptr) {
    reinterpret_cast<XlaFfiMetadataExtension*>(frame->extensions)->metadata->version.minor = 3;
    return nullptr;
  }
  XlaFfiTypeId state_type = {8}, data_type = {9};
  if (frame->stage == XlaFfiStage::kInstantiate) {
    static int state = 0;
    XlaFfiStateArgs set = {};
    set.context = frame->context;
    set.type = &state_type;
    set.state = &state;
    return frame->api->set_state(&set);
  }
  XlaFfiContextGetArgs get = {};
  get.context = frame->context;
  get.type = &data_type;
  if (XlaFfiError* error = frame->api->get_context(&get)) return error;
  const auto* const out = static_cast<const XlaFfiBuffer*>(frame->results.buffers[0]);
  static_cast<float*>(out->data)[0] = *static_cast<float*>(get.data);
  return nullptr;
}

TEST(XlaFfiTest, StatesGoWithTheirProgramAndUserDataWithItsRun) {
  XlaFfiTypeId type = {8};
  ASSERT_TRUE(RegisterXlaFfiType("test.counted", type, [](void*) { ++deleted_states; }).ok());
  const XlaFfiBundle bundle = {GiveUserData, nullptr, nullptr, GiveUserData};
  ASSERT_TRUE(RegisterXlaFfiHandler("test.user_data", bundle).ok());
  float number = 4.5f, deleted = 0;
  {
    const auto data = std::make_shared<FfiUserData>();
    ASSERT_TRUE(data->Add(9, &number, nullptr).ok());
    ASSERT_TRUE(data->Add(10, &deleted, [](void* d) { *static_cast<float*>(d) = 1; }).ok());
    EXPECT_EQ(data->Add(9, &number, nullptr).code(), absl::StatusCode::kAlreadyExists);
    const FfiRun with(data), without;
    EXPECT_NE(with.id, without.id);
    FfiStates states;
    FfiCaller lends = {"", "a", &states, &with}, keeps = {"", "a", &states, &without};
    EXPECT_EQ(Called("test.user_data", "", lends), 4.5f) << lends.error;
    Called("test.user_data", "", keeps);
    EXPECT_EQ(keeps.error,
              "User data with type id 9 not found in execution context: the run was given none");
    EXPECT_EQ(deleted_states, 0);
  }
  EXPECT_EQ(deleted_states, 1);
  EXPECT_EQ(deleted, 1);
}

TEST(XlaFfiTest, RefusesHandlersItCannotCall) {
  EXPECT_EQ(RegisterXlaFfiHandler("test.none", {}).message(),
            "custom-call target \"test.none\" has no execute handler");
  EXPECT_EQ(RegisterXlaFfiHandler("test.newer", {nullptr, nullptr, nullptr, AddState<4>}).message(),
            "the handler of custom-call target \"test.newer\" is of version 0.4, this is 0.3");
}

TEST(XlaFfiTest, TypesHaveOneNumberAName) {
  XlaFfiTypeId first = {0}, second = {0}, again = {0}, wrong = {12345};
  EXPECT_TRUE(RegisterXlaFfiType("test.first", first, nullptr).ok());
  EXPECT_TRUE(RegisterXlaFfiType("test.second", second, nullptr).ok());
  EXPECT_TRUE(RegisterXlaFfiType("test.first", again, nullptr).ok());
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(first.id, again.id);
  EXPECT_FALSE(RegisterXlaFfiType("test.first", wrong, nullptr).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
