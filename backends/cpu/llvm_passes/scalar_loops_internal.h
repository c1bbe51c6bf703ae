// Code for loops that compute one number at a time.
#pragma once

#include <string>

#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"

namespace hlokit {

// Functions whose loops hold no vectors do without AVX512. With it LLVM chooses between two scalars
// by a mask register, which a general one fills three to four cycles before it is of use; with AVX2
// by a comparison's own result. Steps of a solver, which wait for each other, take a fifth less
// time so. For x86 alone; to be run after what makes vectors.
class ScalarLoopsPass : public llvm::PassInfoMixin<ScalarLoopsPass> {
 public:
  explicit ScalarLoopsPass(const llvm::TargetMachine& machine);
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

 private:
  std::string features_;  // empty: the machine has no AVX512
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
