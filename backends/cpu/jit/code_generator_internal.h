// LLVM's passes from IR to object code, less those that find nothing in the emitted loops.
#pragma once

#include "backends/cpu/jit/compile_progress_internal.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Target/TargetMachine.h"

namespace hlokit {

// Adds what makes an object of a module and writes it to `out`, which must outlive `passes`; false
// where the target emits no objects. At levels from 2 on (of the machine: Default) most of what
// LLVM runs between its optimizer and the selection of instructions is left out for x86-64. `clock`
// may be null.
bool AddCodeGenerator(llvm::LLVMTargetMachine& machine, llvm::legacy::PassManager& passes,
                      llvm::raw_pwrite_stream& out, FunctionClock* clock);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
