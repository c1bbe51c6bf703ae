// Elementwise kernels load and store vectors where arrays are long and even, and only there.
#include "backends/cuda/vector_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/kernel_testing_internal.h"
#include "generator/generator.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

std::unique_ptr<Module> Sum(const std::string& type, int64_t elements) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[$1] parameter(0)
  y = $0[$1] parameter(1)
  s = $0[$1] add(x, y)
  ROOT r = ($0[$1], $0[$1]) tuple(s, x)
})",
                                                                                type, elements));
  return ParseModule(source, {}, diagnostics).value();
}

TEST(VectorKernelsTest, SumsAreThoseOfTheInterpreter) {
  for (const char* type : {"f32", "f16", "bf16", "s8", "u64", "c64", "c128", "s4"})
    for (const int64_t elements : {4096, 4098, 4099}) {
      const auto module = Sum(type, elements);
      const std::vector<Literal> arguments = RandomArguments(*module, 5);
      const DeviceArguments pointers = {&arguments[0], &arguments[1]};
      const auto expected = InterpretDevices(*module, {pointers}, {});
      auto executable = MakePtxSimBackend()->Compile(module->Clone(), {}).value();
      auto prepared = executable->Prepare({pointers}).value();
      const absl::Status status = prepared->Run();
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(prepared->TakeResults().value()[0] == expected->front()) << type << elements;
    }
}

TEST(VectorKernelsTest, InstructionsOfVectors) {
  const struct {
    const char* type;
    int64_t elements;
    const char* load;
  } cases[] = {{"f32", 4096, "v4"}, {"f32", 4098, "v2"}, {"f64", 4096, "v2"},
               {"f32", 4099, ""},   {"f32", 512, ""},    {"f16", 4096, "v4"}};
  for (const auto& c : cases) {
    const std::string ptx = PtxOfModule(Sum(c.type, c.elements), "sm_80", {}).value();
    const std::string load = absl::Substitute("ld.global.nc.$0.", c.load),
                      store = absl::Substitute("st.global.$0.", c.load);
    EXPECT_THAT(ptx, testing::Not(testing::HasSubstr("cvta")));  // of parameters
    if (*c.load != '\0') {
      EXPECT_THAT(ptx, testing::HasSubstr(load));
      EXPECT_THAT(ptx, testing::HasSubstr(store));
    } else {
      EXPECT_THAT(ptx, testing::Not(testing::ContainsRegex("\\.v[24]\\.")));
    }
  }
}

std::string Moved(const std::string& type, const std::string& operand, const std::string& result,
                  const std::string& operation) {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0[$1] parameter(0)\n z = $0[] constant($4)\n"
      " ROOT r = $0[$2] $3\n}\n",
      type, operand, result, operation, type == "c64" ? "(1, 2)" : "1");
}

// Work that moves elements has vectors along the fastest dimension, where that one stays.
TEST(VectorKernelsSimulationTest, MovedElements) {
  const struct {
    const char *operand, *result, *operation, *load, *store;
  } cases[] = {
      {"300,1000", "300,500", "slice(x), slice={[0:300],[8:508]}", "ld.global.nc.v4", "v4"},
      {"300,1000", "300,500", "slice(x), slice={[0:300],[9:509]}", "ld.global.nc.", "v4"},
      {"300,1002", "300,502", "slice(x), slice={[0:300],[8:510]}", "ld.global.nc.v2", "v2"},
      {"500", "300,500", "broadcast(x), dimensions={1}", "ld.global.nc.v4", "v4"},
      {"300", "300,500", "broadcast(x), dimensions={0}", "ld.global.nc.", "v4"},
      {"300,500", "300,520", "pad(x, z), padding=0_0x8_12", "ld.global.nc.", "v4"},
      {"300,500", "300,500", "reverse(x), dimensions={0,1}", "ld.global.nc.v4", "v4"},
      {"500,3,200", "3,500,200", "transpose(x), dimensions={1,0,2}", "ld.global.nc.v4", "v4"},
      {"1000,600", "2000,600", "concatenate(x, x), dimensions={0}", "ld.global.nc.v4", "v4"},
      {"1000,602", "1000,1204", "concatenate(x, x), dimensions={1}", "ld.global.nc.v2", "v2"},
  };
  for (const auto& c : cases) {
    const std::string text = Moved("f32", c.operand, c.result, c.operation);
    const std::string ptx = PtxForTest(text);
    EXPECT_THAT(ptx, testing::HasSubstr(c.load)) << text;
    EXPECT_THAT(ptx, testing::HasSubstr(absl::StrCat("st.global.", c.store))) << text;
    for (const char* type : {"f32", "bf16", "s8", "c64"})
      CheckOnSimulator(Moved(type, c.operand, c.result, c.operation), 0);
  }
}

// A row of a table each: the index is read once for four neighbours.
TEST(VectorKernelsTest, GatheredRows) {
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[70,256] parameter(0)
  i = s32[600,1] parameter(1)
  ROOT r = f32[600,256] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,256}
})";
  EXPECT_THAT(PtxForTest(text), testing::HasSubstr("ld.global.nc.v4.f32"));
  CheckOnSimulator(text, 0);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
