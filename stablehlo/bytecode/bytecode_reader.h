// MLIR bytecode, versions 0 to 6: files of MLIR's own dialects (builtin, func, stablehlo, chlo,
// sdy) and portable artifacts, in which the dialect vhlo carries StableHLO from version to version.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

// The program in the form that text gives: operations of vhlo have StableHLO's names. The result
// refers to `bytes`, and where `owner` is not null, which then keeps them, its large arrays do so
// until they are looked into. Errors: InvalidArgument with the offset in the file and the section.
// Source: MLIR Bytecode Format (mlir.llvm.org/docs/BytecodeFormat); StableHLO's VhloBytecode.
absl::StatusOr<std::unique_ptr<MlirModule>> ReadMlirBytecode(
    absl::string_view bytes, const std::shared_ptr<const void>& owner = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
