// copy-insertion: copies where an array would be written over while it is still read.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches arrays that share memory by their nature: a loop's initial value, its state and the next
// one; the array that dynamic-update-slice, scatter or sort changes; the module's result. Leaves a
// copy where one of them is a constant or a parameter, is needed twice, or may still be read when
// the other is written (in some order of execution that operands allow). Tuples taken apart and
// instructions without use are removed. Expects bodies with one caller (flatten-call-graph). Cost:
// the size of a computation for each array with several readers.
std::unique_ptr<Pass> CreateCopyInsertion();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
