// A pass over LLVM's IR, before its loop vectorizer and after its last InstCombine.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// Compares f16 as f32, rounds it to integers and chooses the greater and the lesser as f32, which
// is exact. We emit no others, but InstCombine takes the extensions away, and machines without
// arithmetic of f16 then go lane by lane.
struct WidenHalvesPass : llvm::PassInfoMixin<WidenHalvesPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
