// What the attributes of the entry's arguments and results say: layouts, donation, shardings.
#pragma once

#include "absl/status/status.h"
#include "ir/module.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

// Sets the entry's layout, aliases and donors, and the shardings of its parameters.
absl::Status ConvertSignature(const MlirOperation& entry, Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
