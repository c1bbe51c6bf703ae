// The kernel of one thread that gives a conditional node of a CUDA graph what the program computed:
// set_condition(condition, selector, bytes, k, count), true where the k-th of count branches is
// taken, by a pred[] (one byte: 0 where it is true) or an s32[] (out of range: the last). A loop
// goes on where branch 0 of 2 is taken.
#pragma once

namespace hlokit {

// A module of its own: a driver without conditional nodes does not know the function that they
// call.
extern const char kConditionKernels[];

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
