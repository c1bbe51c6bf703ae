// collective-permute-decomposer: transfers between pairs as sends and receives.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// A collective-permute of one array of at least `bytes` (0) over a channel becomes a recv and a
// send with the same pairs, the send after the recv has begun, and what the recv-done gives: zeros
// on a device that nothing is sent to. One without pairs stays. Exact.
std::unique_ptr<Pass> CreateCollectivePermuteDecomposer(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
