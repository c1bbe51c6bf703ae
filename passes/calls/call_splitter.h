// call-splitter: a call as two, one after the other.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Matches calls whose computation holds instructions of the opcode that the option `boundary` names
// (of the computation that `calls` names, where it is given). Those and all that needs them go into
// the second call; the rest stays in the first, which gives a tuple of what the second and the
// caller read of it. A call of which nothing would stay in the first is left alone, as are calls
// with control edges. Without `boundary` nothing changes. Cost: linear.
std::unique_ptr<Pass> CreateCallSplitter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
