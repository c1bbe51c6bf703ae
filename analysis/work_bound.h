// How much a run of a module must do at least, told without running it.
#pragma once

#include "absl/status/status.h"
#include "ir/module.h"

namespace hlokit {

// More instructions than this in one run take minutes at the least, however small each one is.
inline constexpr int64_t kMaxExecutions = int64_t{1} << 36;

// Instructions that a run of the entry computation executes at least: bodies count as often as they
// are called, those of loops once, of branches the cheapest one. Saturates at INT64_MAX. Linear in
// the module's size. The module's calls have no cycles (the verifier sees to it).
int64_t LeastExecutions(const Module& module);

// InvalidArgument where LeastExecutions is above kMaxExecutions: forty computations that each call
// the one before twice are a short text and no program.
absl::Status CheckWork(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
