// Which products and sums become one step, and what freedom is left afterwards.
#include "codegen/llvm_passes/rounding.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace hlokit {
namespace {

using Which = FuseSumsPass::Which;

std::unique_ptr<llvm::Module> Parse(llvm::LLVMContext& context, absl::string_view body,
                                    absl::string_view type) {
  const std::string text =
      absl::StrCat("define ", type, " @f(", type, " %a, ", type, " %b, ", type, " %c, ", type,
                   " %d) {\n", body, "  ret ", type, " %r\n}\n");
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_NE(module, nullptr) << error.getMessage().str();
  return module;
}

std::string Text(const llvm::Function& function) {
  std::string text;
  llvm::raw_string_ostream out(text);
  function.print(out);
  return text;
}

std::string Fused(absl::string_view body, Which which = Which::kAll,
                  absl::string_view type = "float") {
  llvm::LLVMContext context;
  const auto module = Parse(context, body, type);
  llvm::Function& function = *module->getFunction("f");
  llvm::FunctionAnalysisManager analyses;
  FuseSumsPass(which).run(function, analyses);
  EXPECT_FALSE(llvm::verifyFunction(function));
  return Text(function);
}

constexpr absl::string_view kProduct = "  %p = fmul contract float %a, %b\n";

TEST(FuseSums, TakesUpTheProductOnEitherSide) {
  for (const char* operands : {"%p, %c", "%c, %p"}) {
    const std::string text =
        Fused(absl::StrCat(kProduct, "  %r = fadd contract float ", operands, "\n"));
    EXPECT_TRUE(absl::StrContains(text, "@llvm.fma.f32(float %a, float %b, float %c)")) << text;
    EXPECT_FALSE(absl::StrContains(text, "fmul")) << text;
  }
}

TEST(FuseSums, OfTwoProductsTheLeftOne) {
  const std::string text = Fused(absl::StrCat(kProduct, "  %q = fmul contract float %c, %d\n",
                                              "  %r = fadd contract float %p, %q\n"));
  EXPECT_TRUE(absl::StrContains(text, "@llvm.fma.f32(float %a, float %b, float %q)")) << text;
}

TEST(FuseSums, SignsMoveToFactorAndSummand) {
  const std::string less = Fused(absl::StrCat(kProduct, "  %r = fsub contract float %p, %c\n"));
  EXPECT_TRUE(absl::StrContains(less, "= fneg float %c")) << less;
  const std::string from = Fused(absl::StrCat(kProduct, "  %r = fsub contract float %c, %p\n"));
  EXPECT_TRUE(absl::StrContains(from, "= fneg float %a")) << from;
  const std::string twice = Fused(
      absl::StrCat(kProduct, "  %n = fneg contract float %p\n  %r = fsub contract float %c, %n\n"));
  EXPECT_FALSE(absl::StrContains(twice, "fneg")) << twice;
  EXPECT_TRUE(absl::StrContains(twice, "@llvm.fma.f32(float %a, float %b, float %c)")) << twice;
}

TEST(FuseSums, VectorsToo) {
  const std::string text =
      Fused("  %p = fmul contract <4 x double> %a, %b\n  %r = fadd contract <4 x double> %p, %c\n",
            Which::kAll, "<4 x double>");
  EXPECT_TRUE(absl::StrContains(text, "@llvm.fma.v4f64")) << text;
}

TEST(FuseSums, LeavesProductsOfTwoReadersAndWhatIsNotMarked) {
  for (const char* rest : {"  %q = fadd contract float %p, %c\n  %r = fadd contract float %p, %q\n",
                           "  %r = fadd float %p, %c\n"})
    EXPECT_FALSE(absl::StrContains(Fused(absl::StrCat(kProduct, rest)), "llvm.fma")) << rest;
  EXPECT_FALSE(absl::StrContains(
      Fused("  %p = fmul float %a, %b\n  %r = fadd contract float %p, %c\n"), "llvm.fma"));
}

TEST(FuseSums, SumsOfFreeOrderWaitForTheVectorizer) {
  const std::string body = absl::StrCat(kProduct, "  %r = fadd reassoc contract float %c, %p\n");
  EXPECT_FALSE(absl::StrContains(Fused(body, Which::kOrdered), "llvm.fma"));
  EXPECT_TRUE(absl::StrContains(Fused(body), "llvm.fma"));
}

TEST(SettleBits, TakesAllFreedomButTheMarksOfProducts) {
  llvm::LLVMContext context;
  const auto module = Parse(context,
                            absl::StrCat(kProduct, "  %s = fadd reassoc contract float %p, %c\n",
                                         "  %r = fdiv arcp float %s, %d\n"),
                            "float");
  EXPECT_TRUE(LeavesBitsOpen(*module));
  llvm::Function& function = *module->getFunction("f");
  llvm::FunctionAnalysisManager analyses;
  SettleBitsPass().run(function, analyses);
  EXPECT_FALSE(LeavesBitsOpen(*module));
  const std::string text = Text(function);
  for (const char* line : {"= fmul contract float", "= fadd float", "= fdiv float"})
    EXPECT_TRUE(absl::StrContains(text, line)) << line << " in " << text;
}

std::string Settled(absl::string_view body, absl::string_view type) {
  llvm::LLVMContext context;
  const auto module = Parse(context, absl::StrCat(body, "  %r = fadd ", type, " %a, %a\n"), type);
  llvm::Function& function = *module->getFunction("f");
  llvm::FunctionAnalysisManager analyses;
  SettleBitsPass().run(function, analyses);
  EXPECT_FALSE(llvm::verifyFunction(function));
  return Text(function);
}

int Count(absl::string_view text, absl::string_view part) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != absl::string_view::npos; ++at) ++count;
  return count;
}

constexpr absl::string_view kLanes =
    "float @llvm.vector.reduce.fadd.v8f32(float START, <8 x float> %v)\n"
    "  store float %s, ptr null\n";

std::string LanesFrom(absl::string_view start, absl::string_view flags) {
  std::string body = absl::StrCat("  %v = load <8 x float>, ptr null\n  %s = call ", flags, kLanes);
  body.replace(body.find("START"), 5, start.data(), start.size());
  return body;
}

TEST(SettleBits, LanesOfFreeOrderAreAddedByHalves) {
  const std::string text = Settled(LanesFrom("-0.0", "reassoc "), "float");
  EXPECT_FALSE(absl::StrContains(text, "reduce.fadd")) << text;
  for (const char* line : {"= fadd <4 x float>", "= fadd <2 x float>", "= fadd <1 x float>"})
    EXPECT_TRUE(absl::StrContains(text, line)) << line << " in " << text;
  EXPECT_EQ(Count(text, "= fadd float"), 1) << text;  // the result's; -0 is not added
  const std::string from = Settled(LanesFrom("%b", "reassoc "), "float");
  EXPECT_TRUE(absl::StrContains(from, "= fadd float %b, ")) << from;
  EXPECT_EQ(Count(Settled(LanesFrom("0.0", "reassoc "), "float"), "= fadd float"), 2);
}

TEST(SettleBits, LanesOfAStatedOrderStay) {
  const std::string text = Settled(LanesFrom("%b", ""), "float");
  EXPECT_TRUE(absl::StrContains(text, "reduce.fadd")) << text;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
