// Reading StableHLO: what counts as MLIR, and that damaged files give errors and nothing worse.
#include "stablehlo/stablehlo.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "stablehlo/bytecode/bytecode_reader.h"
#include "stablehlo/text/text_reader.h"
#include "support/file.h"

namespace hlokit {
namespace {

TEST(IsMlirTest, TellsTextsApart) {
  EXPECT_TRUE(IsMlir("module @jit_f attributes {} {"));
  EXPECT_TRUE(IsMlir("// a comment\n#loc = loc(unknown)\nmodule {}"));
  EXPECT_TRUE(IsMlir("module {\n  func.func @main() { return }\n}"));
  EXPECT_TRUE(IsMlir("\"builtin.module\"() ({\n"));
  EXPECT_TRUE(IsMlir(absl::string_view("ML\xefR\x0d", 5)));
  EXPECT_FALSE(IsMlir("HloModule m\n"));
  EXPECT_FALSE(IsMlir("module { ROOT p = f32[] parameter(0) }"));
  EXPECT_FALSE(IsMlir("module.1 {\n  p = f32[] parameter(0)\n"));
  EXPECT_FALSE(IsMlir(""));
  // Messages begin with the length of the module's name.
  for (char length = 1; length < 127; ++length)
    EXPECT_FALSE(IsMlir("\n" + std::string(1, length) + std::string(length, 'm') + "\x12\x04main"))
        << int{length};
}

std::vector<std::string> Samples() {
  std::vector<std::string> samples;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(HLOKIT_SOURCE_DIR "/testdata/stablehlo"))
    if (auto text = ReadFile(entry.path().string()); text.ok()) samples.push_back(*text);
  return samples;
}

// A few bytes changed, removed or repeated.
std::string Damaged(std::string text, std::mt19937& random) {
  const int count = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < count && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    const size_t length = std::min<size_t>(1 + random() % 8, text.size() - at);
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), length));
        break;
      default:
        text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    }
  }
  return text;
}

TEST(DamagedFilesTest, GiveErrors) {
  std::mt19937 random(7);
  const std::vector<std::string> samples = Samples();
  ASSERT_FALSE(samples.empty());
  int read = 0;
  for (int i = 0; i < 8000; ++i) {
    std::string text = Damaged(samples[i % samples.size()], random);
    const auto file = std::make_shared<const SourceFile>("damaged", std::move(text));
    const auto module = ReadStablehlo(file);
    read += module.ok();
    if (!module.ok()) {
      EXPECT_FALSE(module.status().message().empty());
    }
  }
  EXPECT_GT(read, 0);
}

TEST(StablehloTest, TellsWhatIsAskedOfMemory) {
  const auto file = std::make_shared<SourceFile>(
      "f", std::string("func.func public @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"auto\"}, "
                       "%b: tensor<f32> {mhlo.memory_kind = \"pinned_host\"}) -> "
                       "(tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {\n"
                       "  return %a : tensor<2x3xf32>\n}\n"));
  EntryWishes wishes;
  ASSERT_TRUE(ReadStablehlo(file, &wishes).ok());
  ASSERT_EQ(wishes.arguments.size(), 2u);
  EXPECT_EQ(wishes.arguments[0].layout, "auto");
  EXPECT_EQ(wishes.arguments[1].kind, "pinned_host");
  ASSERT_EQ(wishes.results.size(), 1u);
  EXPECT_EQ(wishes.results[0].layout, "{0,1}");
}

// Weights stay in the file until somebody looks at them.
TEST(StablehloTest, LargeArraysOfBytecodeAreCopiedWhenLookedInto) {
  auto bytes = ReadFile(HLOKIT_SOURCE_DIR "/testdata/stablehlo/written/weights.mlirbc");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto file = std::make_shared<const SourceFile>("weights.mlirbc", *std::move(bytes));
  const auto module = ReadStablehlo(file);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_GT(file.use_count(), 1);
  const Literal* weights = nullptr;
  for (const Instruction* i : (*module)->entry()->Instructions())
    if (i->opcode() == Opcode::kConstant) weights = i->literal();
  ASSERT_NE(weights, nullptr);
  EXPECT_EQ(weights->element_count(), 2048);
  EXPECT_EQ(weights->as<float>()[2047], 2047);
  EXPECT_EQ(file.use_count(), 1);
}

TEST(StablehloTest, CastsOfTransposesAreOfOneType) {
  const auto file = std::make_shared<SourceFile>(
      "f", std::string("func.func public @main(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {\n"
                       "  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> "
                       "tensor<3x2xf32>\n"
                       "  %1 = \"builtin.unrealized_conversion_cast\"(%0) : (tensor<3x2xf32>) -> "
                       "tensor<3x2xf32>\n"
                       "  return %1 : tensor<3x2xf32>\n}\n"));
  const auto module = ReadStablehlo(file);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry()->root()->opcode(), Opcode::kTranspose);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
