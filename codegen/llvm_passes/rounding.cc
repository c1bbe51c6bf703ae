// What of a product and a sum is rounded once.
#include "codegen/llvm_passes/rounding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

namespace hlokit {
namespace {

// A product that a sum reads, perhaps through a negation.
struct Product {
  llvm::Instruction* product = nullptr;  // null: there is none
  llvm::Instruction* negation = nullptr;
};

llvm::Instruction* OnlyRead(llvm::Value* value, unsigned opcode, const llvm::BasicBlock* block) {
  auto* i = llvm::dyn_cast<llvm::Instruction>(value);
  const bool fits =
      i != nullptr && i->getOpcode() == opcode && i->hasOneUse() && i->getParent() == block;
  return fits ? i : nullptr;
}

Product FindProduct(llvm::Value* summand, const llvm::BasicBlock* block) {
  Product found;
  found.negation = OnlyRead(summand, llvm::Instruction::FNeg, block);
  if (found.negation != nullptr) summand = found.negation->getOperand(0);
  found.product = OnlyRead(summand, llvm::Instruction::FMul, block);
  if (found.product != nullptr && !found.product->hasAllowContract()) found.product = nullptr;
  return found;
}

// sum = left + right or left - right, as one step; false where neither is a product.
bool Fuse(llvm::Instruction* sum) {
  const bool subtracts = sum->getOpcode() == llvm::Instruction::FSub;
  unsigned place = 0;
  Product taken = FindProduct(sum->getOperand(0), sum->getParent());
  if (taken.product == nullptr) taken = FindProduct(sum->getOperand(place = 1), sum->getParent());
  if (taken.product == nullptr) return false;
  llvm::IRBuilder<> b(sum);
  llvm::Value* factor = taken.product->getOperand(0);
  llvm::Value* other = sum->getOperand(1 - place);
  if ((taken.negation != nullptr) != (subtracts && place == 1)) factor = b.CreateFNeg(factor);
  if (subtracts && place == 0) other = b.CreateFNeg(other);
  llvm::Value* fused = b.CreateIntrinsic(sum->getType(), llvm::Intrinsic::fma,
                                         {factor, taken.product->getOperand(1), other});
  sum->replaceAllUsesWith(fused);
  sum->eraseFromParent();
  if (taken.negation != nullptr) taken.negation->eraseFromParent();
  taken.product->eraseFromParent();
  return true;
}

bool IsSum(const llvm::Instruction& i) {
  if (i.getOpcode() != llvm::Instruction::FAdd && i.getOpcode() != llvm::Instruction::FSub)
    return false;
  const llvm::Type* type = i.getType()->getScalarType();
  return i.hasAllowContract() && (type->isFloatTy() || type->isDoubleTy());
}

bool IsOpen(const llvm::Instruction& i) {
  return llvm::isa<llvm::FPMathOperator>(i) && (i.hasAllowReassoc() || i.hasAllowReciprocal());
}

llvm::PreservedAnalyses Preserved(bool changed) {
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace

llvm::PreservedAnalyses FuseSumsPass::run(llvm::Function& function,
                                          llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : llvm::make_early_inc_range(block))
      if (IsSum(i) && (which_ == Which::kAll || !i.hasAllowReassoc())) changed |= Fuse(&i);
  return Preserved(changed);
}

bool LeavesBitsOpen(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::BasicBlock& block : function)
      if (llvm::any_of(block, IsOpen)) return true;
  return false;
}

llvm::PreservedAnalyses SettleBitsPass::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block) {
      if (!llvm::isa<llvm::FPMathOperator>(i) || i.getFastMathFlags().none()) continue;
      i.setHasAllowReassoc(false);
      i.setHasAllowReciprocal(false);
      if (i.getOpcode() != llvm::Instruction::FMul) i.setHasAllowContract(false);
      changed = true;
    }
  return Preserved(changed);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
