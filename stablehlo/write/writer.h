// Modules as StableHLO text, which XLA, JAX and StableHLO's own tools read.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

struct StablehloOptions {
  bool all_computations = false;  // each computation is a function too, in the module's order
  bool flatten_entry = false;     // `main` has the arrays of its tuples
  // Operations and the module's attributes are as XLA's importer writes them, not as JAX does.
  bool importer_forms = false;
};

// The module in MLIR's generic form: the entry as `main`, called computations as private functions,
// others as regions. Tuples are taken apart; those of the entry's parameters and results stay.
// Errors: Unimplemented, with the instruction's place, where an operation has no equal.
absl::StatusOr<std::string> WriteStablehlo(const Module& module,
                                           const StablehloOptions& options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
