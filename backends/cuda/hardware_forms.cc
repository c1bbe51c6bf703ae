// Looks at each instruction once, and at what its operands are. LLVM's shifts are undefined from
// the width of their type on, so that it cannot know what PTX's do there, and it takes a bf16 that
// is widened by integer arithmetic for integers:
//
//   %w = zext i16 %b to i32; %s = shl i32 %w, 16; %f = bitcast i32 %s to float    3 instructions
//   %f = fpext bfloat %b to float                                                 cvt.f32.bf16
//
// Cost: linear.
#include <vector>

#include "backends/cuda/hardware_forms_internal.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace hlokit {
namespace {

using llvm::PatternMatch::m_BitCast;
using llvm::PatternMatch::m_ICmp;
using llvm::PatternMatch::m_LShr;
using llvm::PatternMatch::m_Select;
using llvm::PatternMatch::m_Shl;
using llvm::PatternMatch::m_SpecificInt;
using llvm::PatternMatch::m_Value;
using llvm::PatternMatch::m_Zero;
using llvm::PatternMatch::m_ZExt;

// Says that a call is arithmetic: LLVM would join no loads on both sides of one that may not
// return.
llvm::CallInst* Pure(llvm::CallInst* call) {
  call->setDoesNotAccessMemory();
  call->addFnAttr(llvm::Attribute::WillReturn);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

// To nearest, ties to even; a NaN keeps its upper half, quiet.
llvm::Value* RoundByIntegers(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Value* const bits = b.CreateBitCast(x, b.getInt32Ty());
  llvm::Value* const last = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  llvm::Value* const rounded = b.CreateAdd(bits, b.CreateAdd(last, b.getInt32(0x7fff)));
  llvm::Value* const quiet = b.CreateOr(bits, 0x400000);
  llvm::Value* const all = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(all, 16), b.getInt16Ty()), b.getBFloatTy());
}

bool RoundsToBrain(const llvm::Instruction& i) {
  return i.getOpcode() == llvm::Instruction::FPTrunc && i.getType()->isBFloatTy() &&
         i.getOperand(0)->getType()->isFloatTy();
}

// The one instruction for a shift that gives zero from 32 on; null where `i` is none.
llvm::Value* ClampedShift(llvm::Instruction& i) {
  llvm::Value *left, *shift, *x, *amount;
  llvm::ICmpInst::Predicate order;
  if (!i.getType()->isIntegerTy(32)) return nullptr;
  // LLVM's own passes may have turned the comparison round.
  const bool within = llvm::PatternMatch::match(
      &i, m_Select(m_ICmp(order, m_Value(left), m_SpecificInt(32)), m_Value(shift), m_Zero()));
  const bool beyond = !within && llvm::PatternMatch::match(
                                     &i, m_Select(m_ICmp(order, m_Value(left), m_SpecificInt(31)),
                                                  m_Zero(), m_Value(shift)));
  if (!(within && order == llvm::ICmpInst::ICMP_ULT) &&
      !(beyond && order == llvm::ICmpInst::ICMP_UGT))
    return nullptr;
  const bool up = llvm::PatternMatch::match(shift, m_Shl(m_Value(x), m_Value(amount)));
  if (!up && !llvm::PatternMatch::match(shift, m_LShr(m_Value(x), m_Value(amount)))) return nullptr;
  if (amount != left) return nullptr;
  llvm::IRBuilder<> b(&i);
  auto* const type =
      llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty(), b.getInt32Ty()}, false);
  return Pure(b.CreateCall(
      llvm::InlineAsm::get(type, up ? "shl.b32 $0, $1, $2;" : "shr.u32 $0, $1, $2;", "=r,r,r",
                           /*hasSideEffects=*/false),
      {x, amount}));
}

// The one instruction that widens a bf16; null where `i` does not.
llvm::Value* Widening(llvm::Instruction& i) {
  llvm::Value* bits;
  if (!i.getType()->isFloatTy() ||
      !llvm::PatternMatch::match(&i, m_BitCast(m_Shl(m_ZExt(m_Value(bits)), m_SpecificInt(16)))) ||
      !bits->getType()->isIntegerTy(16))
    return nullptr;
  llvm::IRBuilder<> b(&i);
  return b.CreateFPExt(b.CreateBitCast(bits, b.getBFloatTy()), i.getType());
}

// Puts what `make` gives, where it gives something, in the place of instructions.
template <typename Make>
llvm::PreservedAnalyses ReplaceInstructions(llvm::Function& function, Make make) {
  std::vector<llvm::WeakTrackingVH> dead;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block)
      if (llvm::Value* const value = make(i)) {
        i.replaceAllUsesWith(value);
        dead.emplace_back(&i);
      }
  for (const llvm::WeakTrackingVH& i : dead)
    if (i) llvm::RecursivelyDeleteTriviallyDeadInstructions(i);
  return dead.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace

llvm::PreservedAnalyses BrainRoundingPass::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager&) {
  return ReplaceInstructions(function, [&](llvm::Instruction& i) -> llvm::Value* {
    if (!RoundsToBrain(i)) return nullptr;
    llvm::IRBuilder<> b(&i);
    if (arch < 80) return RoundByIntegers(b, i.getOperand(0));
    return Pure(b.CreateIntrinsic(llvm::Intrinsic::nvvm_f2bf16_rn, {}, {i.getOperand(0)}));
  });
}

llvm::PreservedAnalyses HardwareFormsPass::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager&) {
  return ReplaceInstructions(function, [&](llvm::Instruction& i) -> llvm::Value* {
    if (llvm::Value* const shift = ClampedShift(i)) return shift;
    return arch >= 90 ? Widening(i) : nullptr;
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
