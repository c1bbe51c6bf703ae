// The names of values in pretty programs.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

using ValueNames = absl::flat_hash_map<int32_t, std::string>;  // by the values' ids

// As MLIR names the values of a function: %arg0 for arguments, %iterArg for those of loops, %cst
// and %c for constants of floats and others, %0, %0#1 for results. A name that is taken gets the
// next of the numbers that all share; regions of one operation begin with the same numbers.
ValueNames NamesOfFunction(const MlirOperation& function);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
