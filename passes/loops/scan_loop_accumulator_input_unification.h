// scan_loop_accumulator_input_unification: one array of a loop for what comes and what goes.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches loops that read rows of an array which never changes, row i in round i, and write as many
// rows of an array of that shape which nothing else in the loop reads: rows are read from the
// written array, which starts as the read one. The old start of that array must not matter: every
// row is written. Exact.
std::unique_ptr<Pass> CreateScanLoopAccumulatorInputUnification();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
