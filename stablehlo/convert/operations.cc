// Which function converts which operation.
#include "absl/container/flat_hash_map.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {

std::optional<Opcode> SimpleOpcodeOf(absl::string_view operation) {
  static const auto& kOpcodes = *new absl::flat_hash_map<absl::string_view, Opcode>{
#define MLIR_SIMPLE(operation, opcode) {operation, Opcode::k##opcode},
#define MLIR_CONVERT(operation, function)
#include "stablehlo/convert/operations.def"
#undef MLIR_CONVERT
#undef MLIR_SIMPLE
  };
  const auto found = kOpcodes.find(operation);
  if (found == kOpcodes.end()) return std::nullopt;
  return found->second;
}

ConvertFunction ConvertFunctionOf(absl::string_view operation) {
  static const auto& kFunctions = *new absl::flat_hash_map<absl::string_view, ConvertFunction>{
#define MLIR_SIMPLE(operation, opcode)
#define MLIR_CONVERT(operation, function) {operation, &Convert##function},
#include "stablehlo/convert/operations.def"
#undef MLIR_CONVERT
#undef MLIR_SIMPLE
  };
  const auto found = kFunctions.find(operation);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
