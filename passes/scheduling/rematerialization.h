// rematerialization: values computed again instead of kept.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// While the values alive at once in a computation, in the order of its text, take more than `limit`
// bytes, a value that is alive there only for users that come later is computed again for them,
// just before the first (a control dependence sees to it), where that costs little (elementwise
// operations, broadcasts, iotas, moves) and what it needs is alive anyway. Exact.
// Cost: the size of the computation for each.
std::unique_ptr<Pass> CreateRematerialization(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
