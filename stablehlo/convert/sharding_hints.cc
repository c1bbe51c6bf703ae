// Operations of sdy that say how a value is divided among partitions and leave it as it is.
//
// Example: `%1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]>` in a program of one partition: uses
// of %1 become uses of %0. XLA's conversion leaves a custom call to Sharding there, which its
// partitioner takes away again. In portable artifacts builtin.unrealized_conversion_cast stands
// around them, between the types of vhlo and those of sdy: one array under two names of its type.
// Limits: with several partitions the hint matters, and is refused by name.
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {

absl::Status ConvertShardingHint(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() > 1)
    return InvalidArgument(op.name, ": expected one operand and no more than one result");
  if (body.module().module().header().num_partitions != 1)
    return Unimplemented(op.name, " is not supported in a program of several partitions");
  for (const MlirValue& result : op.results) {
    if (!result.type->HasShape() || BodyConverter::ShapeOf(*result.type) != operands[0]->shape())
      return InvalidArgument(op.name, ": the result's type is not the operand's");
    body.Set(result, operands[0]);
  }
  return absl::OkStatus();
}

absl::Status ConvertTypeCast(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != op.results.size())
    return Unimplemented(op.name, " is supported with as many results as operands");
  for (size_t i = 0; i < operands.size(); ++i) {
    const MlirValue& result = op.results[i];
    if (!result.type->HasShape() || BodyConverter::ShapeOf(*result.type) != operands[i]->shape())
      return Unimplemented(op.name, " is supported between names of one type");
    body.Set(result, operands[i]);
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
