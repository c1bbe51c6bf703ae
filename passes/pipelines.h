// Named pipelines: lists of passes as text, one a platform.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// The list of passes that RunPasses takes for "cpu", "cuda" (our kernels on GPUs), "gpu" (the part
// of XLA's list that needs no device) or "interpreter"; InvalidArgument for another name.
absl::StatusOr<absl::string_view> PipelineSpec(absl::string_view name);

std::vector<absl::string_view> ListPipelines();

// Lists that the backends run besides a pipeline, for RunPasses.
//
// Of a module that does not run the pipeline: the blocks in which reductions and scans of narrow
// floats round, which are part of what they mean (ops/evaluate/reducer.h).
extern const absl::string_view kRoundedReductionPasses;
// Of each module, after all other passes: what code generation wants.
extern const absl::string_view kLegalizationPasses;
// For GPUs, before all other passes: what has no kernels, in terms of what has.
extern const absl::string_view kGpuExpanderPasses;
// Of a module with dynamic shapes: one computation, so that sizes can be followed.
extern const absl::string_view kInlineCallsPasses;
// The same, where a fusion has a dynamic shape.
extern const absl::string_view kDefusePasses;
// Then masks for dynamic sizes, where these are known inside the module.
extern const absl::string_view kMaskDynamicSizesPasses;

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
