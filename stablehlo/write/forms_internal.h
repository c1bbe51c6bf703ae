// What operation of StableHLO an instruction is.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "ir/instruction.h"
#include "stablehlo/write/text_internal.h"

namespace hlokit {

struct WrittenForm {
  std::string name;        // stablehlo.add
  std::string attributes;  // without braces
};

// The operation of the instruction's operands, called computations as regions. Errors:
// Unimplemented where there is none.
absl::StatusOr<WrittenForm> WrittenFormOf(const Instruction& instruction);

// Changes a form to that which XLA's importer writes (StablehloOptions::importer_forms).
void AsImporterWrites(const Instruction& i, WrittenForm& form);
// What it writes beside the attributes of an operation; may be empty.
std::string ImporterExtras(const Instruction& i);

// The configuration of a custom call where it is fields, `{a = 1 : i64}`; empty where it is none
// or another text.
std::string FieldsOfConfig(const Instruction& i);

// The attributes of the rows of forms.def.
#define MLIR_WRITTEN(opcode, name, attributes) \
  absl::StatusOr<AttributeText> Written##attributes(const Instruction& i);
#define MLIR_SPECIAL(opcode, method)
#include "stablehlo/write/forms.def"
#undef MLIR_SPECIAL
#undef MLIR_WRITTEN

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
