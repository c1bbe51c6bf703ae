// Which indices are hidden from the loop vectorizer.
#include "codegen/llvm_passes/wrapping_indices.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace hlokit {
namespace {

// The loop `for (i = first; i < rounds; ++i) q[i] = p[%m]` after the pass; `index` computes %m.
std::string Loop(int first, int rounds, const std::string& index) {
  const std::string text =
      absl::StrCat("define void @f(ptr noalias %p, ptr noalias %q) {\nentry:\n  br label %loop\n",
                   "loop:\n  %i = phi i64 [ ", first, ", %entry ], [ %n, %loop ]\n", index,
                   "  %a = getelementptr inbounds float, ptr %p, i64 %m\n"
                   "  %v = load float, ptr %a\n"
                   "  %b = getelementptr inbounds float, ptr %q, i64 %i\n"
                   "  store float %v, ptr %b\n  %n = add nuw nsw i64 %i, 1\n"
                   "  %c = icmp slt i64 %n, ",
                   rounds, "\n  br i1 %c, label %loop, label %exit\nexit:\n  ret void\n}\n");
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_NE(module, nullptr) << error.getMessage().str();
  if (module == nullptr) return "";
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  llvm::Function& function = *module->getFunction("f");
  WrappingIndicesPass().run(function, analyses);
  EXPECT_FALSE(llvm::verifyFunction(function));
  std::string result;
  llvm::raw_string_ostream out(result);
  function.print(out);
  return result;
}

bool IsFrozen(const std::string& text) { return text.find("freeze") != std::string::npos; }

std::string Modulo64(int stride) {
  return absl::StrCat("  %x = mul nuw nsw i64 %i, ", stride, "\n  %m = and i64 %x, 63\n");
}

TEST(WrappingIndices, FreezesWhatMayWrapFromZero) {
  const std::string text = Loop(0, 43, Modulo64(3));
  EXPECT_NE(text.find("%m.frozen = freeze i64 %m"), std::string::npos) << text;
  EXPECT_NE(text.find("float, ptr %p, i64 %m.frozen"), std::string::npos) << text;
}

TEST(WrappingIndices, FreezesNarrowArithmetic) {
  EXPECT_TRUE(IsFrozen(
      Loop(0, 200, "  %t = trunc i64 %i to i8\n  %x = mul i8 %t, 3\n  %m = zext i8 %x to i64\n")));
}

TEST(WrappingIndices, LeavesWhatDoesNotWrap) {
  EXPECT_FALSE(IsFrozen(Loop(0, 21, Modulo64(3))));
  EXPECT_FALSE(IsFrozen(Loop(0, 200, "  %m = mul nuw nsw i64 %i, 3\n")));
}

// LLVM's check for these is right: the step is one, or the start is not zero.
TEST(WrappingIndices, LeavesWhatLlvmChecksRightly) {
  EXPECT_FALSE(IsFrozen(Loop(0, 128, "  %m = and i64 %i, 63\n")));
  EXPECT_FALSE(IsFrozen(Loop(1, 43, Modulo64(3))));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
