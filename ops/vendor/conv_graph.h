// The steps that cuDNN does after a convolution, as XLA writes them into `serialized_graph`:
//
//   28:[f32]conv();30:[f32]scale(28);16:[f8e4m3fn]scale(30);25:[f32]amax(30);
//
// Each is its number, the type that it rounds to, what it does, and the step that it reads. `scale`
// and `invscale` multiply and divide by a scalar, `add` adds an array, `relu` drops what is
// negative, `amax` is the largest magnitude. Scalars and arrays are the call's operands after the
// convolution's two, in the order of the steps that take one.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// The values of the convolution taken through the steps: what the last step gives that is no amax,
// as `shape`, then each amax. Errors: InvalidArgument for a graph or operands that make no sense,
// Unimplemented for other steps.
absl::StatusOr<std::vector<Literal>> RunConvGraph(const EvalContext& context,
                                                  absl::string_view graph, const Shape& shape,
                                                  std::vector<double> values);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
