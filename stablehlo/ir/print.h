// Attributes as MLIR's text.
#pragma once

#include <string>

#include "stablehlo/ir/mlir.h"

namespace hlokit {

// `{uplo = 76 : ui8, mode = "x"}`, `#sdy.sharding<...>`: what MLIR prints without aliases. XLA
// keeps such texts in backend configurations and frontend attributes.
std::string PrintMlir(const MlirAttribute& attribute);
// `tensor<2x3xf32>`, `ui8`.
std::string PrintMlir(const MlirType& type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
