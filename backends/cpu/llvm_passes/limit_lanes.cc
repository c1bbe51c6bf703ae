// Hints for the loop vectorizer, as metadata of loops. It chooses the width by the widest type;
// loops that read bytes and compute floats get the width of the floats, so that one register of
// floats is full. In functions that run long (kRunsLong), long bodies are interleaved as far as
// registers last.
#include <algorithm>

#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/llvm_passes/limit_lanes_internal.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace hlokit {
namespace {

// The widest type that a loop touches in memory and the widest float in it, in bits.
struct Widths {
  unsigned memory = 0;
  unsigned computed = 0;
};

// False where the address moves by other than the size of `type`, or not at all.
bool IsNextElement(const llvm::Value* address, llvm::Type* type, const llvm::Loop& loop,
                   llvm::ScalarEvolution& evolution) {
  const auto* steps =
      llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(const_cast<llvm::Value*>(address)));
  if (steps == nullptr || steps->getLoop() != &loop || !steps->isAffine()) return false;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(steps->getStepRecurrence(evolution));
  return step != nullptr && step->getAPInt() == type->getPrimitiveSizeInBits() / 8;
}

// Instructions of a body from which its steps take longer than memory, and at most as many in all
// copies: live values have to stay in registers, and takes time to compile.
constexpr size_t kLeastSteps = 24, kMaxSteps = 256;
constexpr unsigned kManyRegisters = 32;

// No more than `most`, which the loop has rounds for.
unsigned InterleaveCount(const llvm::Loop& loop, const llvm::TargetTransformInfo& target,
                         unsigned most) {
  const size_t size = loop.getHeader()->size();
  if (size < kLeastSteps) return 1;
  const unsigned registers = target.getNumberOfRegisters(target.getRegisterClassForType(true));
  unsigned count = registers >= kManyRegisters ? 4 : 2;
  while (count > 1 && (count * size > kMaxSteps || count > most)) count /= 2;
  return count;
}

bool Measure(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, Widths& widths) {
  for (const llvm::Instruction& i : *loop.getHeader()) {
    if (i.getType()->isFloatingPointTy())
      widths.computed = std::max(widths.computed, i.getType()->getScalarSizeInBits());
    if (llvm::isa<llvm::PHINode>(i) && i.getType()->isFloatingPointTy()) return false;
    const llvm::Value* address = llvm::getLoadStorePointerOperand(&i);
    if (address == nullptr) continue;
    llvm::Type* type = llvm::getLoadStoreType(const_cast<llvm::Instruction*>(&i));
    if (loop.isLoopInvariant(address)) continue;
    if (!IsNextElement(address, type, loop, evolution)) return false;
    widths.memory = std::max(widths.memory, type->getScalarSizeInBits());
  }
  return true;
}

}  // namespace

llvm::PreservedAnalyses LimitLanesPass::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  const auto register_bits = static_cast<unsigned>(
      target.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue());
  const bool runs_long = function.hasFnAttribute(kRunsLong);
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    Widths widths;
    if (!loop->isInnermost() || loop->getNumBlocks() != 1 || !Measure(*loop, evolution, widths))
      continue;
    if (widths.memory == 0) continue;
    const unsigned lanes = register_bits / std::max(widths.memory, widths.computed);
    const unsigned rounds = evolution.getSmallConstantTripCount(loop);  // 0: unknown
    if (lanes == 0 || (rounds != 0 && rounds < lanes)) continue;  // 0: a machine without vectors
    const unsigned most = rounds == 0 ? register_bits : rounds / lanes;
    const unsigned beside = runs_long ? InterleaveCount(*loop, target, most) : 1;
    if (beside > 1) llvm::addStringMetadataToLoop(loop, "llvm.loop.interleave.count", beside);
    if (widths.memory >= widths.computed) continue;
    llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.width",
                                  register_bits / widths.computed);
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
