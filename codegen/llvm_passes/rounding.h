// Passes over LLVM's IR that settle how often floats are rounded, and in which order they are added
// up. They run at every level of optimization, so that results have the same bits at all.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// Makes one llvm.fma, which rounds once, of a sum or difference and the product that it alone reads
// in the same block, where both are marked `contract`; of two products it takes up the left one.
// What code generation makes of them otherwise, but at some of LLVM's levels only. For targets
// whose fused instructions take no longer than the two.
class FuseSumsPass : public llvm::PassInfoMixin<FuseSumsPass> {
 public:
  // kOrdered leaves out sums that may be reassociated: the vectorizer must still know them.
  enum class Which { kOrdered, kAll };
  explicit FuseSumsPass(Which which) : which_(which) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }

 private:
  Which which_;
};

// True if a function of the module holds floats whose order of summation or way of division is
// open, so that LLVM's passes decide about bits.
bool LeavesBitsOpen(const llvm::Module& module);

// Takes from all instructions the freedom to change bits; lanes whose order of summation was free
// are added by halves. Products stay marked `contract`, which
// means nothing once no sum is, and by which FuseProductsPass knows the module's own.
struct SettleBitsPass : llvm::PassInfoMixin<SettleBitsPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
