// Finds recurrences whose check for wrapping LLVM gets wrong.
#include "codegen/llvm_passes/wrapping_indices.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

namespace hlokit {
namespace {

// True for a recurrence of the loop whose check LLVM computes as false though it may wrap.
bool HasWrongCheck(const llvm::SCEV* expression, const llvm::Loop& loop,
                   llvm::ScalarEvolution& evolution) {
  const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(expression);
  if (steps == nullptr || steps->getLoop() != &loop || !steps->isAffine()) return false;
  return steps->getStart()->isZero() && !steps->getStepRecurrence(evolution)->isOne() &&
         !steps->hasNoUnsignedWrap();
}

// True for a value carried around the loop and cut to fewer bits: LLVM may assume that it is a
// recurrence of these.
bool IsCutCarried(const llvm::SCEV* expression, const llvm::Loop& loop) {
  const auto* cut = llvm::dyn_cast<llvm::SCEVTruncateExpr>(expression);
  if (cut == nullptr) return false;
  const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(cut->getOperand());
  const auto* phi =
      unknown == nullptr ? nullptr : llvm::dyn_cast<llvm::PHINode>(unknown->getValue());
  return phi != nullptr && phi->getParent() == loop.getHeader();
}

bool HoldsWrapping(llvm::Instruction& i, const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return llvm::SCEVExprContains(evolution.getSCEV(&i), [&](const llvm::SCEV* part) {
    const auto* wide = llvm::dyn_cast<llvm::SCEVZeroExtendExpr>(part);
    return wide != nullptr && (HasWrongCheck(wide->getOperand(), loop, evolution) ||
                               IsCutCarried(wide->getOperand(), loop));
  });
}

// Operations from which scalar evolution makes zero extensions.
bool MayExtend(const llvm::Instruction& i) {
  switch (i.getOpcode()) {
    case llvm::Instruction::ZExt:
    case llvm::Instruction::And:
    case llvm::Instruction::LShr:
    case llvm::Instruction::URem:
      return i.getType()->isIntegerTy();
    default:
      return false;
  }
}

void Freeze(llvm::Instruction& i, llvm::ScalarEvolution& evolution) {
  evolution.forgetValue(&i);
  auto* frozen = new llvm::FreezeInst(&i, i.getName() + ".frozen");
  frozen->insertAfter(&i);
  i.replaceUsesWithIf(frozen, [&](const llvm::Use& use) { return use.getUser() != frozen; });
}

}  // namespace

llvm::PreservedAnalyses WrappingIndicesPass::run(llvm::Function& function,
                                                 llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    for (llvm::BasicBlock* block : loop->blocks())
      for (llvm::Instruction& i : llvm::make_early_inc_range(*block)) {
        if (!MayExtend(i) || !HoldsWrapping(i, *loop, evolution)) continue;
        Freeze(i, evolution);
        changed = true;
      }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
