// Remainders of floats on GPUs.
#pragma once

#include "codegen/llvm.h"

namespace hlokit {

// Makes calls of an exact function of each `frem` in the module: x - trunc(x / y) * y computed
// without rounding, as C's fmod. NVPTX itself would round the quotient.
void ReplaceRemainders(llvm::Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
