// Chooses the instruction set of loops without vectors: with AVX512 LLVM selects between two
// scalars through mask registers, which is slower in loops where each step waits for the one
// before.
#include <string>

#include "backends/cpu/llvm_passes/scalar_loops_internal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/MC/MCSubtargetInfo.h"

namespace hlokit {
namespace {

bool HasVectors(const llvm::Instruction& i) {
  return i.getType()->isVectorTy() || llvm::any_of(i.operands(), [](const llvm::Use& operand) {
           return operand->getType()->isVectorTy();
         });
}

}  // namespace

ScalarLoopsPass::ScalarLoopsPass(const llvm::TargetMachine& machine) {
  if (machine.getTargetTriple().isX86() && machine.getMCSubtargetInfo()->checkFeatures("+avx512f"))
    features_ = machine.getTargetFeatureString().str() + ",-avx512f";
}

llvm::PreservedAnalyses ScalarLoopsPass::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  if (features_.empty() || function.hasOptNone() || loops.empty())
    return llvm::PreservedAnalyses::all();
  for (const llvm::BasicBlock& block : function)
    if (loops.getLoopFor(&block) != nullptr && llvm::any_of(block, HasVectors))
      return llvm::PreservedAnalyses::all();
  function.addFnAttr("target-features", features_);
  return llvm::PreservedAnalyses::all();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
