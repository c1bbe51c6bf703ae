// Comparisons of f16 become ones of f32.
#include "backends/cpu/llvm_passes/widen_halves_internal.h"

#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace hlokit {
namespace {

// The module of the text, whose function f the pass has changed; null if it cannot be read.
std::unique_ptr<llvm::Module> Widened(llvm::LLVMContext& context, const char* text) {
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_NE(module, nullptr) << error.getMessage().str();
  if (module == nullptr) return nullptr;
  llvm::Function& function = *module->getFunction("f");
  llvm::FunctionAnalysisManager analyses;
  EXPECT_FALSE(WidenHalvesPass().run(function, analyses).areAllPreserved());
  EXPECT_FALSE(llvm::verifyFunction(function));
  return module;
}

TEST(WidenHalves, ComparesAsFloats) {
  constexpr char kText[] = R"(
define <4 x i1> @f(<4 x half> %x, half %y, half %z, float %w, ptr %out) {
  %a = fcmp nnan olt <4 x half> %x, <half 0xH3C00, half 0xH0001, half 0xHFE00, half 0xHFC00>
  %b = fcmp une half %y, %z
  %c = fcmp uno half %y, 0xH0000
  %d = fcmp ogt float %w, 1.0
  %e = or i1 %b, %c
  %f = or i1 %d, %e
  store i1 %f, ptr %out
  ret <4 x i1> %a
})";
  llvm::LLVMContext context;
  const auto module = Widened(context, kText);
  ASSERT_NE(module, nullptr);
  llvm::Function& function = *module->getFunction("f");
  std::vector<llvm::CmpInst::Predicate> predicates;
  for (const llvm::Instruction& i : llvm::instructions(function)) {
    if (const auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&i)) {
      EXPECT_TRUE(compare->getOperand(0)->getType()->getScalarType()->isFloatTy());
      predicates.push_back(compare->getPredicate());
      EXPECT_EQ(compare->hasNoNaNs(), compare->getType()->isVectorTy());
    }
  }
  using P = llvm::CmpInst::Predicate;
  EXPECT_EQ(predicates, (std::vector<P>{P::FCMP_OLT, P::FCMP_UNE, P::FCMP_UNO, P::FCMP_OGT}));
  llvm::FunctionAnalysisManager analyses;
  EXPECT_TRUE(WidenHalvesPass().run(function, analyses).areAllPreserved());
}

TEST(WidenHalves, RoundsAsFloats) {
  constexpr char kText[] = R"(
declare <8 x half> @llvm.floor.v8f16(<8 x half>)
declare <8 x half> @llvm.maximum.v8f16(<8 x half>, <8 x half>)
declare <8 x half> @llvm.fabs.v8f16(<8 x half>)
define <8 x half> @f(<8 x half> %x) {
  %a = call <8 x half> @llvm.floor.v8f16(<8 x half> %x)
  %b = call <8 x half> @llvm.fabs.v8f16(<8 x half> %a)
  %c = call <8 x half> @llvm.maximum.v8f16(<8 x half> %b, <8 x half> %x)
  ret <8 x half> %c
})";
  llvm::LLVMContext context;
  const auto module = Widened(context, kText);
  ASSERT_NE(module, nullptr);
  llvm::Function& function = *module->getFunction("f");
  std::vector<std::string> calls;
  for (const llvm::Instruction& i : llvm::instructions(function))
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i))
      calls.push_back(call->getCalledFunction()->getName().str());
  EXPECT_EQ(calls, (std::vector<std::string>{"llvm.floor.v8f32", "llvm.fabs.v8f16",
                                             "llvm.maximum.v8f32"}));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
