// Passes that put new instructions in the places of those they know, one at a time.
#pragma once

#include <functional>

#include "passes/framework/pass.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// Gives what may stand for the instruction: of the same type and dimensions, or null to leave it as
// it is; a copy converts it where its layout is another. What it makes through the rewriter takes
// the metadata of the instruction.
using Expand = std::function<absl::StatusOr<Instruction*>(Instruction*, Rewriter&)>;

struct ExpanderOptions {
  bool everywhere = false;      // in computations of fusions and of reduce too
  bool keeps_operands = false;  // what only the replaced instruction needed stays
};

// Visits each instruction of each computation that runs on its own, operands first, once; what it
// makes is not visited again. What only the replaced instruction needed goes with it, but
// for computations, which stay for dce, as in XLA. Each replacement is a rewrite that asks the
// control. `name` must outlive the pass. Errors: what `expand` fails with.
std::unique_ptr<Pass> MakeExpander(absl::string_view name, Expand expand,
                                   ExpanderOptions options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
