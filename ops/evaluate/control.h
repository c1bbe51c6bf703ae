// Control flow that executors do themselves.
#pragma once

#include "types/literal.h"

namespace hlokit {

// Which of a conditional's branches runs: the first for true, else the second; an index out of
// range takes the last.
int64_t BranchIndex(const Literal& selector, int64_t branches);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
