// Scalar products as fused multiply-adds of -0, which do not stall on subnormal results:
//   fmul contract float %x, %y  ->  call float @llvm.fma.f32(%x, %y, -0.0)
// fma(x, y, -0) has the bits of x * y in every case, signs of zeros included.
#include "backends/cpu/llvm_passes/fuse_products_internal.h"

#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace hlokit {
namespace {

bool IsProduct(const llvm::Instruction& i) {
  return i.getOpcode() == llvm::Instruction::FMul && i.hasAllowContract() &&
         (i.getType()->isFloatTy() || i.getType()->isDoubleTy());
}

}  // namespace

llvm::PreservedAnalyses FuseProductsPass::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  std::vector<llvm::Instruction*> alone;
  for (llvm::BasicBlock& block : function) {
    if (analyses.getResult<llvm::LoopAnalysis>(function).getLoopFor(&block) == nullptr) continue;
    for (llvm::Instruction& i : block)
      if (IsProduct(i)) alone.push_back(&i);
  }
  for (llvm::Instruction* product : alone) {
    llvm::IRBuilder<> b(product);
    llvm::Value* fused = b.CreateIntrinsic(product->getType(), llvm::Intrinsic::fma,
                                           {product->getOperand(0), product->getOperand(1),
                                            llvm::ConstantFP::getNegativeZero(product->getType())});
    product->replaceAllUsesWith(fused);
    product->eraseFromParent();
  }
  if (alone.empty()) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
