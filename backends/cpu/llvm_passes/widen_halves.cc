// Comparisons, roundings, minima and maxima of f16 as ones of f32. They are exact in either type,
// and processors without arithmetic of f16 would go lane by lane.
//   fcmp olt <8 x half> %x, %y  ->  fcmp olt <8 x float> (fpext %x), (fpext %y)
#include "backends/cpu/llvm_passes/widen_halves_internal.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace hlokit {
namespace {

void WidenComparison(llvm::FCmpInst& compare) {
  llvm::IRBuilder<> builder(&compare);
  llvm::Type* half = compare.getOperand(0)->getType();
  llvm::Type* wide = half->getWithNewType(builder.getFloatTy());
  llvm::Value* with =
      builder.CreateFCmp(compare.getPredicate(), builder.CreateFPExt(compare.getOperand(0), wide),
                         builder.CreateFPExt(compare.getOperand(1), wide));
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(with)) made->copyIRFlags(&compare);
  compare.replaceAllUsesWith(with);
  compare.eraseFromParent();
}

// Of halves these give halves exactly, whatever they are computed in.
bool IsExact(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  if (call == nullptr) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::maximum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::minimum:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::round:
    case llvm::Intrinsic::roundeven:
    case llvm::Intrinsic::trunc:
      return true;
    default:
      return false;
  }
}

void WidenCall(llvm::IntrinsicInst& call) {
  llvm::IRBuilder<> builder(&call);
  llvm::Type* wide = call.getType()->getWithNewType(builder.getFloatTy());
  std::vector<llvm::Value*> arguments;
  for (llvm::Value* x : call.args()) arguments.push_back(builder.CreateFPExt(x, wide));
  llvm::Value* exact = builder.CreateIntrinsic(wide, call.getIntrinsicID(), arguments);
  call.replaceAllUsesWith(builder.CreateFPTrunc(exact, call.getType()));
  call.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses WidenHalvesPass::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager&) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    if ((llvm::isa<llvm::FCmpInst>(i) || IsExact(i)) &&
        i.getOperand(0)->getType()->getScalarType()->isHalfTy())
      found.push_back(&i);
  }
  for (llvm::Instruction* i : found) {
    if (auto* compare = llvm::dyn_cast<llvm::FCmpInst>(i))
      WidenComparison(*compare);
    else
      WidenCall(*llvm::cast<llvm::IntrinsicInst>(i));
  }
  if (found.empty()) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
