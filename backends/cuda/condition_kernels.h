// Kernels of one thread that give the conditional nodes of a CUDA graph what the program computed:
// set_loop(condition, pred), and set_branch(condition, selector, bytes, k, count) for the k-th of
// count branches, by a pred[] (one byte: 0 where it is true) or an s32[] (out of range: the last).
#pragma once

namespace hlokit {

// A module of its own: a driver without conditional nodes does not know the function that they
// call.
extern const char kConditionKernels[];

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
