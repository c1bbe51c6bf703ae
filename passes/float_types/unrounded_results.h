// unrounded-results: what converts a result of arithmetic to f32 gets all its digits.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A result of bf16 arithmetic that a convert to f32 reads, and others besides, is computed once
// more for the converts: fusion takes the copy up with them, and in one kernel they get it
// unrounded (docs/cpu.md), as XLA's CPU has it by xla_allow_excess_precision. To be run right
// before fusion, since common subexpressions are one again otherwise.
std::unique_ptr<Pass> CreateUnroundedResults();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
