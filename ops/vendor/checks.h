// Custom calls that compare two values, as the test programs of StableHLO have them.
#pragma once

#include "absl/strings/string_view.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// Whether the target is one of checks.cc.
bool IsCheckTarget(absl::string_view target);

// Compares the operands. Gives an empty tuple, or, for `check.eq`, true or false. Errors:
// FailedPrecondition with a report of the elements where a check does not hold.
absl::StatusOr<Literal> EvaluateCheck(const EvalContext& context);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
