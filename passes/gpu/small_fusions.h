// Constants inside of fusions.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// Moves the scalar constants that a fusion reads into its body. True if it reads any.
bool SinkScalarConstants(Instruction* fusion);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
