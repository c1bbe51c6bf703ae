// literal-canonicalizer, shape-canonicalizer, hlo-constant-splitter,
// optimize_input_output_buffer_alias and alias_passthrough_params: memory of constants, and of
// arguments given away.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// literal-canonicalizer. Constants of equal value share one literal in memory. The text stays as it
// is. Cost: linear.
std::unique_ptr<Pass> CreateLiteralCanonicalizer();

// shape-canonicalizer. Shapes are values here, with nothing to share: never changes anything. There
// for pipelines that name it.
std::unique_ptr<Pass> CreateShapeCanonicalizer();

// hlo-constant-splitter. Gives every user of a constant one of its own. Cost: linear.
std::unique_ptr<Pass> CreateHloConstantSplitter();

// optimize_input_output_buffer_alias. Matches arguments that the caller donates and results of the
// same shape that nothing aliases yet; leaves aliases of the two, each donated once. Cost: donors
// times results.
std::unique_ptr<Pass> CreateOptimizeInputOutputBufferAlias();

// alias_passthrough_params. Results that are arguments as they came take their memory; leaves
// aliases, one for each argument. Cost: linear.
std::unique_ptr<Pass> CreateAliasPassthroughParams();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
