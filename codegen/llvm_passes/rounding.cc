// Fused multiply-adds and the order of sums, decided once for all of LLVM's levels.
//   %p = fmul contract %a, %b;  %s = fadd contract %p, %c   ->   %s = llvm.fma(%a, %b, %c)
//   llvm.vector.reduce.fadd reassoc(s, <4 x float> v)       ->   halves added, then s
// What LLVM's own passes would do depends on the level and on what they inlined before; after these
// passes the flags that allow a choice are gone, so that every level gives the same bits. Linear.
#include "codegen/llvm_passes/rounding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
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

// The sum of a vector's lanes in free order: by halves, three steps of eight lanes. Without a
// stated order code generation would add lane after lane, each waiting for the one before.
//   reduce.fadd(s, <4 x float> v):  v = v[0..1] + v[2..3];  s + (v[0] + v[1])
bool FoldLanes(llvm::Instruction* i) {
  auto* reduce = llvm::dyn_cast<llvm::IntrinsicInst>(i);
  if (reduce == nullptr || reduce->getIntrinsicID() != llvm::Intrinsic::vector_reduce_fadd ||
      !reduce->hasAllowReassoc())
    return false;
  llvm::Value* lanes = reduce->getArgOperand(1);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(lanes->getType());
  if (type == nullptr || !llvm::isPowerOf2_32(type->getNumElements())) return false;
  llvm::IRBuilder<> b(reduce);
  for (unsigned count = type->getNumElements() / 2; count > 0; count /= 2) {
    llvm::SmallVector<int, 32> low, high;
    for (unsigned k = 0; k < count; ++k) {
      low.push_back(static_cast<int>(k));
      high.push_back(static_cast<int>(count + k));
    }
    lanes = b.CreateFAdd(b.CreateShuffleVector(lanes, low), b.CreateShuffleVector(lanes, high));
  }
  llvm::Value* sum = b.CreateExtractElement(lanes, uint64_t{0});
  llvm::Value* start = reduce->getArgOperand(0);
  const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(start);
  const bool adds_nothing = constant != nullptr && constant->isZero() && constant->isNegative();
  reduce->replaceAllUsesWith(adds_nothing ? sum : b.CreateFAdd(start, sum));
  reduce->eraseFromParent();
  return true;
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
    for (llvm::Instruction& i : llvm::make_early_inc_range(block)) {
      if (!llvm::isa<llvm::FPMathOperator>(i) || i.getFastMathFlags().none()) continue;
      changed = true;
      if (FoldLanes(&i)) continue;
      i.setHasAllowReassoc(false);
      i.setHasAllowReciprocal(false);
      if (i.getOpcode() != llvm::Instruction::FMul) i.setHasAllowContract(false);
    }
  return Preserved(changed);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
