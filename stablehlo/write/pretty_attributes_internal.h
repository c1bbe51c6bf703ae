// Types and attributes of pretty programs.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

std::string TypeText(const MlirType& type);
// `1, 2`, of array<i64: 1, 2> or of [1, 2].
std::string NumbersOf(const MlirAttribute* list);
// As PrintMlir, with StableHLO's own attributes in its dialect's words.
std::string AttributeOf(const MlirAttribute& attribute);

// A field of dimension numbers and its letter, twice.
using DimensionNames = std::array<std::pair<absl::string_view, absl::string_view>, 2>;
// `[b, f, 0, 1]`: what each dimension is, of the "input", the "kernel" or the "output".
std::string ConvolutionLabels(const MlirAttribute& numbers, absl::string_view part,
                              const DimensionNames& named);
// `[[0, 0], [1, 1]]`, `[1, 1]`, `[false, false]`.
std::string WindowPart(const MlirAttribute& value, absl::string_view part);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
