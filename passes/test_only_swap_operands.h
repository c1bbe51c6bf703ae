// test-only-swap-operands: a pass that does harm, for tests of what finds guilty passes.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Swaps the operands of every instruction of one opcode with two operands of one shape (option
// of=OPCODE, add by default). Run twice it undoes itself; on an opcode that does not commute the
// result is wrong, which is the point.
std::unique_ptr<Pass> CreateTestOnlySwapOperands(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
