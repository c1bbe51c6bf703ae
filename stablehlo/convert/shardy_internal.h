// Shardings of sdy on modules, arguments and results.
#pragma once

#include "ir/module.h"
#include "stablehlo/convert/converter_internal.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

// The header's attribute xla.sdy.meshes, of all sdy.mesh operations of a program of several
// partitions.
absl::Status ConvertMeshes(const MlirModule& program, ModuleHeader& header);

// `value` behind a FuncResultSharding that says how this result of a function is sharded; the value
// itself where that is no array or was not read.
absl::StatusOr<Instruction*> MarkResult(BodyConverter& body, const MlirAttribute& sharding,
                                        Instruction* value);

// What the attribute xla.sdy.sharding of an array says, as a sharding of HLO. Errors: a mesh that is
// not there, or has not as many devices as there are partitions.
absl::StatusOr<Sharding> StatedSharding(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
