// StableHLO in MLIR's text, generic (`"stablehlo.add"(%0, %1) : ...`) and pretty
// (`stablehlo.add %0, %1 : ...`), as JAX and MLIR's tools print it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

// Reads the one module of `text`; functions without a module around them count as one. Errors:
// InvalidArgument with the place in the text.
// The program refers to `text`. It starts at `begin`; what stands before counts for places alone.
absl::StatusOr<std::unique_ptr<MlirModule>> ReadMlirText(absl::string_view text, size_t begin = 0);

// One attribute or type, which `module` then owns.
absl::StatusOr<const MlirAttribute*> ReadMlirAttribute(absl::string_view text, MlirModule& module);
absl::StatusOr<const MlirType*> ReadMlirType(absl::string_view text, MlirModule& module);

// The form of a pretty operation, a row of forms.def; empty where there is none.
absl::string_view FormOf(absl::string_view operation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
