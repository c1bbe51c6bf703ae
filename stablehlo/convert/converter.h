// StableHLO to HLO, as XLA converts it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

// The module whose entry is the function `main` (or the only public one). Operations without an
// equal in HLO are decomposed as XLA does. Errors: InvalidArgument or Unimplemented with the place
// of the operation, which names what is refused.
absl::StatusOr<std::unique_ptr<Module>> ConvertMlir(const MlirModule& program);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
