// Programs with dynamic dimensions: compiled at their bounds, with sizes as extra scalars.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

// How the entry of a module at its bounds stands for that of the module with dynamic dimensions.
struct DynamicEntry {
  // Dimension `dimension` of array `array`: a number of a parameter, or of a leaf of the result.
  struct Size {
    int64_t array = 0;
    int dimension = 0;
  };
  std::vector<Shape> parameters;  // of the module as it was
  Shape result;
  std::vector<Size> arguments;  // what the s32[] parameters after those are
  // The leaf after those of `result` is a pred[]: whether all sizes that were set are in range.
  bool checked = false;
  std::vector<Size> results;  // what the s32[] leaves after that are
};

// Removes what hides dynamic dimensions from dynamic_padder: what nothing calls, calls, and fusions
// if any of them is over such dimensions. Errors: those of passes.
absl::Status ExposeDynamic(Module& module);

// Takes dynamic dimensions out of a module that has some: arguments and results then lie at their
// bounds, and sizes are parameters and results of their own. What dynamic_padder does not know
// stays dynamic. Errors: those of passes.
absl::StatusOr<DynamicEntry> TakeDynamicEntry(Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
