// A pass over LLVM's IR, before its loop vectorizer.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// In functions that run long (kRunsLong), several vectors of an elementwise loop of many steps go
// interleaved: one after the other, each would wait for itself.
//
// Limits the lanes of loops that read and write narrower types than they compute in (bf16 in f32):
// LLVM would choose by what is in memory, and twice the registers are twice the code to compile
// for no less work. Only loops over neighbouring elements: others are left to the cost model.
struct LimitLanesPass : llvm::PassInfoMixin<LimitLanesPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
