// element_type_converter: operations of one type in another.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Matches arithmetic, dots and convolutions with a result or an operand of one float type; leaves
// the operation in another, with conversions before and behind it. Operations that call
// computations and those that only move data stay. Results round once, in the end. Options:
// from=TYPE (bf16), to=TYPE (f32). Cost: linear.
std::unique_ptr<Pass> CreateElementTypeConverter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
