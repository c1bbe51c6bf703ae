// What is hidden from instruction selection, and which functions count as glue.
#include "backends/cpu/llvm_passes/quick_selection_internal.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace hlokit {
namespace {

std::unique_ptr<llvm::Module> Parse(llvm::LLVMContext& context, const std::string& text) {
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_NE(module, nullptr) << error.getMessage().str();
  return module;
}

std::string Splat(int value) {
  return absl::StrCat("<i32 ", value, ", i32 ", value, ", i32 ", value, ", i32 ", value, ">");
}

// Applies the operations (such as "and 7") one after the other to a vector in a loop's block; how
// many of them read a constant afterwards.
int ConstantsLeft(const std::vector<std::string>& operations, absl::string_view block = "loop") {
  std::string text =
      absl::StrCat("define <4 x i32> @f(<4 x i32> %v0) {\n  br label %", block, "\n", block, ":\n");
  if (block == "entry") text = "define <4 x i32> @f(<4 x i32> %v0) {\n";
  for (size_t k = 0; k < operations.size(); ++k) {
    const size_t space = operations[k].find(' ');
    absl::StrAppend(&text, "  %v", k + 1, " = ", operations[k].substr(0, space), " <4 x i32> %v", k,
                    ", ", Splat(std::stoi(operations[k].substr(space))), "\n");
  }
  absl::StrAppend(&text, "  ret <4 x i32> %v", operations.size(), "\n}\n");
  llvm::LLVMContext context;
  const auto module = Parse(context, text);
  llvm::Function& function = *module->getFunction("f");
  llvm::FunctionAnalysisManager analyses;
  HideConstantsPass().run(function, analyses);
  EXPECT_FALSE(llvm::verifyFunction(function));
  int left = 0;
  for (const llvm::Instruction& i : function.back())
    left += i.isBinaryOp() && llvm::isa<llvm::Constant>(i.getOperand(1));
  return left;
}

TEST(HideConstants, MasksAndSummandsOfLoopsAreHidden) {
  EXPECT_EQ(ConstantsLeft({"and 7", "add 32767", "and 7"}), 0);
}

TEST(HideConstants, OthersStay) {
  EXPECT_EQ(ConstantsLeft({"lshr 16"}), 1);
  EXPECT_EQ(ConstantsLeft({"mul 3"}), 1);
  EXPECT_EQ(ConstantsLeft({"add 0", "and -1"}), 2);
  EXPECT_EQ(ConstantsLeft({"and 7", "add 32767"}, "entry"), 2);
}

TEST(HideConstants, AtMostFourOfAFunction) {
  EXPECT_EQ(ConstantsLeft({"add 1", "add 2", "add 3", "add 4", "add 5", "add 4"}), 1);
}

bool IsGlueText(const std::string& body) {
  llvm::LLVMContext context;
  const auto module = Parse(context, absl::StrCat("declare void @g(ptr, i64)\n",
                                                  "define void @f(ptr %p) {\n", body, "}\n"));
  MarkGlue(*module);
  const llvm::Function& function = *module->getFunction("f");
  EXPECT_FALSE(llvm::verifyFunction(function));
  EXPECT_EQ(function.hasOptNone(), IsGlue(function));
  return IsGlue(function);
}

TEST(Glue, PassesAddressesOn) {
  EXPECT_TRUE(
      IsGlueText("%a = load ptr, ptr %p\n%b = getelementptr i8, ptr %a, i64 8\n"
                 "call void @g(ptr %b, i64 4)\nret void\n"));
}

TEST(Glue, NeitherComputesNorBranches) {
  EXPECT_FALSE(IsGlueText("%a = load float, ptr %p\nstore float %a, ptr %p\nret void\n"));
  EXPECT_FALSE(IsGlueText("%a = ptrtoint ptr %p to i64\ncall void @g(ptr %p, i64 %a)\nret void\n"));
  EXPECT_FALSE(IsGlueText("br label %x\nx:\ncall void @g(ptr %p, i64 1)\nret void\n"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
