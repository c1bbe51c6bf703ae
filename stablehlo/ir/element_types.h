// The element types of MLIR by their spelling.
#pragma once

#include "absl/strings/string_view.h"
#include "stablehlo/ir/mlir.h"
#include "types/element_type.h"

namespace hlokit {

// `f32`, `i8`, `ui4`, `i1`, `bf16`, `f8E4M3FN`: kInvalid where HLO has no such type. Integers
// without a sign are signed ones, as XLA takes them.
ElementType MlirElementType(absl::string_view text);

// The least and greatest integer that the type of integers can store.
void SetStorageRange(QuantizedElement& element, ElementType storage);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
