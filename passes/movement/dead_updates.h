// dead-dus-elimination and recognize-reduce-window: what slices leave unread, and what they add up.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// dead-dus-elimination. Matches dynamic-update-slice at a constant place that all its readers,
// plain slices, leave out; leaves the array as it was. Cost: linear.
std::unique_ptr<Pass> CreateDeadDusElimination();

// recognize-reduce-window. Matches chains of additions, from the left, of three or more slices of
// one array that lie at equal distances along one dimension; leaves a reduce-window that adds in
// the same order. The sign of a zero may be lost. Cost: linear.
std::unique_ptr<Pass> CreateRecognizeReduceWindow();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
