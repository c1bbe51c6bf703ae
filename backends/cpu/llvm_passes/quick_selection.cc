// Constants kept from the eyes of instruction selection, and functions that need little of it.
#include "backends/cpu/llvm_passes/quick_selection_internal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace hlokit {
namespace {

// More of them could drive other values out of the registers.
constexpr size_t kMaxHidden = 4;

// The integer in all lanes of vectors of words; null for other constants.
llvm::Constant* WordsOfOneValue(llvm::Value* operand) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(operand);
  if (constant == nullptr || !constant->getType()->isVectorTy()) return nullptr;
  if (!constant->getType()->getScalarType()->isIntegerTy(32)) return nullptr;
  const auto* splat = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getSplatValue());
  return splat == nullptr || splat->isZero() || splat->isMinusOne() ? nullptr : constant;
}

// Constants of one function as instructions of its entry block.
class Hidden {
 public:
  explicit Hidden(llvm::Function& function) : entry_(function.getEntryBlock()) {}

  bool Hide(llvm::Use& use) {
    llvm::Constant* constant = WordsOfOneValue(use.get());
    if (constant == nullptr) return false;
    llvm::Instruction*& kept = kept_[constant];
    if (kept == nullptr && count_ < kMaxHidden) {
      // Not by IRBuilder, which would give the constant back.
      kept = new llvm::BitCastInst(constant, constant->getType(), "", entry_.getTerminator());
      ++count_;
    }
    if (kept == nullptr) return false;
    use.set(kept);
    return true;
  }

 private:
  llvm::BasicBlock& entry_;
  llvm::DenseMap<llvm::Constant*, llvm::Instruction*> kept_;
  size_t count_ = 0;
};

bool IsGlueInstruction(const llvm::Instruction& i) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i))
    return !llvm::isa<llvm::IntrinsicInst>(call) && call->getCalledFunction() != nullptr;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) return load->getType()->isPointerTy();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return store->getValueOperand()->getType()->isPointerTy();
  return llvm::isa<llvm::AllocaInst, llvm::GetElementPtrInst, llvm::ReturnInst>(i);
}

}  // namespace

llvm::PreservedAnalyses HideConstantsPass::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager&) {
  Hidden hidden(function);
  bool changed = false;
  for (llvm::BasicBlock& block : llvm::drop_begin(function))
    for (llvm::Instruction& i : block)
      if (i.getOpcode() == llvm::Instruction::And || i.getOpcode() == llvm::Instruction::Add)
        changed |= hidden.Hide(i.getOperandUse(1));
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

bool IsGlue(const llvm::Function& function) {
  return function.size() == 1 && llvm::all_of(function.getEntryBlock(), IsGlueInstruction);
}

void MarkGlue(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !IsGlue(function)) continue;
    function.addFnAttr(llvm::Attribute::NoInline);  // which the other one asks for
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
