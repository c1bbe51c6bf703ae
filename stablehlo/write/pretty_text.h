// StableHLO programs as MLIR's tools print them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// The program of a text, generic or pretty, in the pretty form: `%0 = stablehlo.add %arg0, %arg1 :
// tensor<4xf32>`, functions and modules by their words, values named as MLIR names them (%arg0, %0,
// %cst, %c). Operations that have no pretty form stay generic. Errors: those of reading.
// `importer_forms`: as XLA's importer has it, operations of one operand that only CHLO has are of
// MHLO.
absl::StatusOr<std::string> PrettyStablehlo(absl::string_view text, bool importer_forms = false);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
