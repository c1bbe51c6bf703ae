// What the command line asks to be drawn of a module.
#pragma once

#include "absl/status/statusor.h"
#include "tools/hlo-viz/graph/selection.h"
#include "tools/hlo-viz/options.h"

namespace hlokit {

// Errors: NotFound names what is near an unknown name; InvalidArgument where flags exclude each
// other or ask for a path that cannot be.
absl::StatusOr<Selection> Select(const ModuleIndex& index, const VizOptions& options);

// The entry or --computation, where these are asked for as a whole; null where only a part of one
// is, or where there is none of that name.
const Computation* WholeComputation(const ModuleIndex& index, const VizOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
