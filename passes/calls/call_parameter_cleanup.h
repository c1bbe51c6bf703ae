// call-parameter-cleanup: what calls hand over for nothing.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches calls of computations with this one caller that take parameters which nothing reads, or
// give back one of their arguments. Leaves a call without the parameters, and the argument for
// those who read what was given back. Cost: linear.
std::unique_ptr<Pass> CreateCallParameterCleanup();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
