// What the command line asks to be drawn of a module.
#pragma once

#include "absl/status/statusor.h"
#include "tools/hlo-viz/graph/selection.h"
#include "tools/hlo-viz/options.h"

namespace hlokit {

// Errors: NotFound names what is near an unknown name; InvalidArgument where flags exclude each
// other or ask for a path that cannot be.
absl::StatusOr<Selection> Select(const ModuleIndex& index, const VizOptions& options);

// A computation on --no-expand-fusions and the like is drawn as the options say, even so.
bool SelectsWholeModule(const VizOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
