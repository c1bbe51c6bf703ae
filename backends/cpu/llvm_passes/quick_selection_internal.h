// Passes over LLVM's IR that shorten the selection of instructions, which takes most of the time.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// Vectors of one integer in all lanes that loops mask with or add (the rounding to bf16) become
// values of the entry block. Selection, which sees one block at a time, would for each operation
// that reads such a constant ask again and again which bits of which lanes matter: half of its time
// on the rows of a layer norm. The constants lie in registers where they would lie anyway. To be
// run last: any pass that folds constants undoes it.
struct HideConstantsPass : llvm::PassInfoMixin<HideConstantsPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// True for a function that computes nothing: one block that passes addresses to other functions.
bool IsGlue(const llvm::Function& function);

// Lets LLVM generate the code of such functions in its quickest way.
void MarkGlue(llvm::Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
