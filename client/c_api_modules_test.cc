// Modules of the C API: read, printed, verified, changed, and errors with places.
#include "client/c_api_modules.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

constexpr char kText[] = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  one = f32[2] broadcast(f32[] constant(1)), dimensions={}
  ROOT y = f32[2] multiply(x, one)
}
)";

// The message of an error, which is freed; empty for none.
std::string Taken(hlokit_error* error) {
  if (error == nullptr) return "";
  std::string message = hlokit_error_message(error);
  hlokit_error_free(error);
  return message;
}

std::string Read(const std::string& text, hlokit_module** module) {
  return Taken(hlokit_module_read(text.data(), text.size(), "my.hlo", module));
}

std::string TextOf(const hlokit_module* module) {
  char* text = nullptr;
  EXPECT_EQ(Taken(hlokit_module_text(module, &text)), "");
  std::string copy = text;
  hlokit_bytes_free(text);
  return copy;
}

TEST(CApiModulesTest, PassesChangeACopyAlone) {
  hlokit_module *module = nullptr, *copy = nullptr;
  ASSERT_EQ(Read(kText, &module), "");
  EXPECT_EQ(Taken(hlokit_module_verify(module)), "");
  ASSERT_EQ(Taken(hlokit_module_clone(module, &copy)), "");
  int32_t changed = 0;
  EXPECT_EQ(Taken(hlokit_module_run_passes(copy, "algsimp,dce", &changed)), "");
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(TextOf(copy).find("multiply"), std::string::npos);
  EXPECT_NE(TextOf(module).find("multiply"), std::string::npos);
  hlokit_module_free(copy);
  hlokit_module_free(module);
}

TEST(CApiModulesTest, ReadsStablehlo) {
  hlokit_module* module = nullptr;
  ASSERT_EQ(Read("module {\n  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                 "    return %a : tensor<2xf32>\n  }\n}\n",
                 &module),
            "");
  EXPECT_NE(TextOf(module).find("f32[2]{0} parameter(0)"), std::string::npos);
  hlokit_module_free(module);
}

TEST(CApiModulesTest, ErrorsNamePlaces) {
  hlokit_module* module = nullptr;
  EXPECT_EQ(Read("HloModule m\nENTRY e {\n  ROOT x = f32[2] parametre(0)\n}\n", &module)
                .rfind("my.hlo:3:", 0),
            0u);
  EXPECT_EQ(module, nullptr);
  ASSERT_EQ(Read("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] "
                 "negate(x)\n}\n",
                 &module),
            "");
  EXPECT_EQ(Taken(hlokit_module_verify(module)).rfind("my.hlo:4:", 0), 0u);
  int32_t changed = 0;
  EXPECT_NE(Taken(hlokit_module_run_passes(module, "no-such-pass", &changed)), "");
  EXPECT_NE(Taken(hlokit_module_text(nullptr, nullptr)), "");
  hlokit_module_free(module);
  hlokit_module_free(nullptr);
}

}  // namespace
// SPDX-License-Identifier: Apache-2.0
