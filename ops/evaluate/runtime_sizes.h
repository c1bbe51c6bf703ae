// Evaluation at the sizes that dynamic dimensions have at run time.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// The value of an op whose operands are smaller than their bounds, for those ops that would take
// the padding for elements: that of operands of just the run-time sizes, in the corner of a result
// of the declared bounds, whose dynamic dimensions get the sizes that inference gives. Nothing
// where the op minds its sizes itself, or all operands fill their bounds. Errors: InvalidArgument
// where the run-time sizes break a rule of the op. Source: the replacement of padding by XLA's
// dynamic padder.
absl::StatusOr<std::optional<Literal>> EvaluateAtRuntimeSizes(const EvalContext& context);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
