// What calls of vendors' libraries compute, by their shapes and configuration.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// Multiplications and additions of a custom-call: matrix products, convolutions, triangular solves
// and fused attention, with nothing for what is fused into them; 0 where the target is none of
// these.
double CallFlops(const Instruction& call);

// Bytes at the end of the result that are the library's workspace: none of the program's values.
double WorkspaceBytes(const Instruction& call);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
