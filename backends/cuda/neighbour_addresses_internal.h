// A pass over the IR of kernels, for backends/cuda/ptx_code.cc.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// Addresses that differ by a constant are written as one of them and that constant:
//
//   x + 4 * (row * 1000 + lane + 1)   ->   (x + 4 * (row * 1000 + lane)) + 4
//
// where the latter has been computed before. The pass that joins loads and stores then sees
// neighbours as such, wherever LLVM's own passes would put the constant; and an instruction that
// accesses memory adds it for nothing. Wants common subexpressions to have been joined.
struct NeighbourAddressesPass : llvm::PassInfoMixin<NeighbourAddressesPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
