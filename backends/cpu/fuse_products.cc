// Scalar products as fused instructions, which do not stall on subnormal results.
#include "backends/cpu/fuse_products_internal.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace hlokit {
namespace {

bool IsProduct(const llvm::Value* value) {
  const auto* i = llvm::dyn_cast<llvm::Instruction>(value);
  return i != nullptr && i->getOpcode() == llvm::Instruction::FMul && i->hasAllowContract() &&
         (i->getType()->isFloatTy() || i->getType()->isDoubleTy());
}

// True if code generation makes one instruction of `product` and the addition `user`: of two
// products with no other use it takes the left one.
bool TakesUp(const llvm::User* user, const llvm::Instruction& product) {
  const auto* sum = llvm::dyn_cast<llvm::Instruction>(user);
  if (sum == nullptr || !sum->hasAllowContract()) return false;
  if (sum->getOpcode() != llvm::Instruction::FAdd && sum->getOpcode() != llvm::Instruction::FSub)
    return false;
  const llvm::Value* left = sum->getOperand(0);
  return left == &product || !IsProduct(left) || !left->hasOneUse();
}

bool IsTakenUp(const llvm::Instruction& product) {
  return llvm::all_of(product.users(),
                      [&](const llvm::User* user) { return TakesUp(user, product); });
}

}  // namespace

llvm::PreservedAnalyses FuseProductsPass::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  std::vector<llvm::Instruction*> alone;
  for (llvm::BasicBlock& block : function) {
    if (analyses.getResult<llvm::LoopAnalysis>(function).getLoopFor(&block) == nullptr) continue;
    for (llvm::Instruction& i : block)
      if (IsProduct(&i) && !IsTakenUp(i)) alone.push_back(&i);
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
