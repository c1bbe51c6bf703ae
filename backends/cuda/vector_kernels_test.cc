// Elementwise kernels load and store vectors where arrays are long and even, and only there.
#include "backends/cuda/vector_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "backends/cuda/cuda_backend.h"
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

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
