// What the pass `fusion` decides, for those who ask why.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/fusion_limits.h"
#include "ir/module.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {

// The limits that a list of passes gives to the pass.
FusionLimits FusionLimitsOf(PassArguments& arguments);

// What `fusion` would do with the instructions of that name: which loop computes them, and of each
// loop that reads them and does not, why. A clause each; none where fusion leaves them alone.
// Cost: that of the pass, on a copy of the module.
std::vector<std::string> FusionDecisions(const Module& module, absl::string_view name,
                                         const FusionLimits& limits);

// The fusion that calls a computation; null where it is none's.
const Instruction* FusionAround(const Computation& body);

// Whether `fusion` would compute two instructions in one loop, and why or why not: "together: ..."
// or "apart: ..."; also where a name is unknown.
std::string FusionPairDecision(const Module& module, absl::string_view first,
                               absl::string_view second, const FusionLimits& limits);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
