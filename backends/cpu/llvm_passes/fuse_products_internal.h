// A pass over LLVM's IR, the last one before code is generated.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// Scalar products in loops that no addition has taken up (FuseSumsPass) become fma(x, y, -0.0),
// which has the same bits: AMD's multipliers stall for tens of cycles where a result is subnormal,
// their fused units never, and one cycle more is all that it costs where numbers are ordinary. Only
// products that may be contracted, which are those of the HLO module; vectors hide the stall. For
// targets with scalar FMA instructions of x86.
struct FuseProductsPass : llvm::PassInfoMixin<FuseProductsPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
