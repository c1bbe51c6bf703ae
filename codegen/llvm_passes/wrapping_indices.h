// A pass over LLVM's IR, to be run directly before its loop vectorizer.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// Keeps LLVM 19 from vectorizing an index that wraps around as if it did not.
//
// The position of an element modulo a row of 2^k elements, `(3 * i) & 63`, is an unsigned
// recurrence {0,+,3} of k bits. The vectorizer may assume that it does not wrap and guard the
// vector loop by a check at run time. For recurrences that start at zero and have a positive step
// LLVM 19 computes that check as "never wraps" (SCEVExpander::generateOverflowCheck; corrected in
// LLVM 22, issue 156849), and contiguous loads then run past the row.
//
// Puts a freeze behind each value that brings such a recurrence in: scalar evolution sees nothing
// behind it, and the vectorizer computes the index of each lane. InstCombine, which follows the
// vectorizer, takes the freeze away. Recurrences that are known not to wrap stay as they are.
struct WrappingIndicesPass : llvm::PassInfoMixin<WrappingIndicesPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
