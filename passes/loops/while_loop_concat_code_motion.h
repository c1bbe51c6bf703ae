// while-loop-concat-code-motion: parts of a loop's state that are joined in every round, joined
// once.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Matches concatenations, in a loop's body, of parts of its state that are of one shape and whose
// next values are computed alike: elementwise from such parts, from the slices of one array, or
// from equal scalars broadcast. The parts become one of the state, joined before the loop and
// sliced behind it; what else reads them in the body reads slices. The option `min-operands` says
// how many parts a concatenation needs (2). Expects bodies with one caller. Exact. Cost: linear for
// each loop that changes.
std::unique_ptr<Pass> CreateWhileLoopConcatCodeMotion(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
