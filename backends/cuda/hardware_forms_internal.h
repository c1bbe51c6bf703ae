// Passes over the IR of kernels, for backends/cuda/ptx_code.cc: what one PTX instruction does.
#pragma once

#include "llvm/IR/PassManager.h"

namespace hlokit {

// Before LLVM's own passes: an `fptrunc` of f32 to bf16 becomes the instruction that rounds so
// (cvt.rn.bf16.f32, from sm_80 on), else integer arithmetic. LLVM would compute sums and products
// of bf16 in bf16, where subnormal products round otherwise than by way of f32.
struct BrainRoundingPass : llvm::PassInfoMixin<BrainRoundingPass> {
  explicit BrainRoundingPass(int arch) : arch(arch) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
  int arch;  // 90: sm_90
};

// After LLVM's own passes:
//
//   select(n < 32, x << n, 0)                  ->   shl.b32, which gives zero from 32 on (shr.u32)
//   bits of f32 (zext(bf16's bits) << 16)      ->   cvt.f32.bf16, from sm_90 on
struct HardwareFormsPass : llvm::PassInfoMixin<HardwareFormsPass> {
  explicit HardwareFormsPass(int arch) : arch(arch) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
  int arch;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
