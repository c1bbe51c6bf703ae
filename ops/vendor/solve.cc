// The triangular solve of cuBLAS.
#include "ops/evaluate/linalg.h"
#include "ops/vendor/solver_calls.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {

absl::StatusOr<Literal> CublasTriangularSolve(const EvalContext& context) {
  const absl::string_view target = context.instruction.attr<CustomCallAttrs>().target;
  if (context.operands.size() != 2)
    return InvalidArgument("custom-call ", target, " takes a triangle and a matrix");
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const Literal &a = *context.operands[0], &b = *context.operands[1];
  Instruction solve(Opcode::kTriangularSolve, b.shape(), {});
  solve.mutable_attr<TriangularSolveAttrs>() = CublasTriangular(config);
  ASSIGN_OR_RETURN(const Shape shape,
                   InferShape(OpView(Opcode::kTriangularSolve, {&a.shape(), &b.shape()},
                                     solve.attributes(), {}, &b.shape())));
  return VendorResult(context, {SolveTriangular(a, b, solve.attr<TriangularSolveAttrs>(), shape)});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
