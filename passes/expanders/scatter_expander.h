// scatter_expander: scatters as updates of slices, and loops over them.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// A scatter of a single window becomes a read, the combining function and a dynamic-update-slice,
// under a test that the window lies inside. With the option `all`, others become a loop that does
// so a round, in the order of the index vectors; without it they stay, as on XLA's CPU. Stay:
// scatters with dynamic dimensions, or whose function is more than elementwise. Exact. Cost:
// linear.
std::unique_ptr<Pass> CreateScatterExpander(PassArguments& arguments);

// scatter_determinism_expander: scatter_expander of those whose result may hang on the order of the
// updates (indices not known to be unique, and a combination that is not associative bit for bit).
std::unique_ptr<Pass> CreateScatterDeterminismExpander();

// gpu_scatter_expander: scatter_expander of those that combine in tuples or in types for which
// accelerators have no atomic operations (complex numbers, wider than 64 bits).
std::unique_ptr<Pass> CreateGpuScatterExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
