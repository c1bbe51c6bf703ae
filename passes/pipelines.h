// Named pipelines: lists of passes as text, one a platform.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// The list of passes that RunPasses takes for "cpu", "gpu" (the part that needs no device) or
// "interpreter"; InvalidArgument for another name.
absl::StatusOr<absl::string_view> PipelineSpec(absl::string_view name);

std::vector<absl::string_view> ListPipelines();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
