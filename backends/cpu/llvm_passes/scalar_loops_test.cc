// Which functions do without AVX512.
#include "backends/cpu/llvm_passes/scalar_loops_internal.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

namespace hlokit {
namespace {

// What the pass adds to a function that runs `step` in a loop and `before` in front of it; "no x86"
// where LLVM has no such target.
std::string Features(const char* cpu, const std::string& step, const std::string& before = "",
                     bool loops = true) {
  llvm::InitializeNativeTarget();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget("x86_64-linux-gnu", error);
  if (target == nullptr) return "no x86";
  const std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      "x86_64-linux-gnu", cpu, "+prefer-256-bit", llvm::TargetOptions(), llvm::Reloc::PIC_));
  const std::string text = absl::StrCat(
      "define void @f(ptr %p, float %x, i1 %c) {\n", before, "  br label %loop\nloop:\n", step,
      "  br i1 ", loops ? "%c" : "false", ", label %loop, label %end\nend:\n  ret void\n}\n");
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_NE(module, nullptr) << diagnostic.getMessage().str();
  if (module == nullptr) return "";
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  llvm::Function& function = *module->getFunction("f");
  if (!loops) function.getEntryBlock().getNextNode()->getTerminator()->eraseFromParent();
  if (!loops) llvm::BranchInst::Create(&function.back(), function.getEntryBlock().getNextNode());
  ScalarLoopsPass(*machine).run(function, analyses);
  return function.getFnAttribute("target-features").getValueAsString().str();
}

constexpr char kScalar[] = "  store float %x, ptr %p\n";
constexpr char kVector[] = "  store <4 x float> zeroinitializer, ptr %p\n";

TEST(ScalarLoops, AreThoseWithoutVectors) {
  if (Features("skylake-avx512", kScalar) == "no x86") GTEST_SKIP() << "LLVM has no x86 here";
  EXPECT_EQ(Features("skylake-avx512", kScalar), "+prefer-256-bit,-avx512f");
  EXPECT_EQ(Features("skylake-avx512", kScalar, kVector), "+prefer-256-bit,-avx512f");
  EXPECT_EQ(Features("skylake-avx512", kVector), "");
  EXPECT_EQ(Features("skylake-avx512", kScalar, "", /*loops=*/false), "");
  EXPECT_EQ(Features("haswell", kScalar), "");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
