// Custom calls that compilers put in place of operations, for libraries of GPUs and CPUs: what they
// compute, as XLA's rewriting passes define it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ops/infer/op_table.h"
#include "ops/vendor/call_config.h"

namespace hlokit {

using VendorCall = absl::StatusOr<Literal> (*)(const EvalContext&);

// Null where the target is none of these.
VendorCall FindVendorCall(absl::string_view target);

// The families of the table.
absl::StatusOr<Literal> CublasGemm(const EvalContext& context);
absl::StatusOr<Literal> CublasF8Matmul(const EvalContext& context);
absl::StatusOr<Literal> CublasGroupedMatmul(const EvalContext& context);
absl::StatusOr<Literal> CublasMxMatmul(const EvalContext& context);
absl::StatusOr<Literal> BlockQuantize(const EvalContext& context);
absl::StatusOr<Literal> BlockDequantize(const EvalContext& context);
absl::StatusOr<Literal> BlockScaledProduct(const EvalContext& context);
absl::StatusOr<Literal> OnednnConvolution(const EvalContext& context);
absl::StatusOr<Literal> OnednnMatmul(const EvalContext& context);
absl::StatusOr<Literal> OnednnSoftmax(const EvalContext& context);
absl::StatusOr<Literal> OnednnLayerNorm(const EvalContext& context);
absl::StatusOr<Literal> CudnnConvolution(const EvalContext& context);
absl::StatusOr<Literal> CublasTriangularSolve(const EvalContext& context);
absl::StatusOr<Literal> CudnnAttention(const EvalContext& context);
absl::StatusOr<Literal> CudnnNorm(const EvalContext& context);
absl::StatusOr<Literal> CubSort(const EvalContext& context);
absl::StatusOr<Literal> CubScan(const EvalContext& context);
absl::StatusOr<Literal> Threefry(const EvalContext& context);
absl::StatusOr<Literal> PivotsToPermutation(const EvalContext& context);
absl::StatusOr<Literal> PadToStatic(const EvalContext& context);
absl::StatusOr<Literal> SliceToDynamic(const EvalContext& context);
absl::StatusOr<Literal> LuDecomposition(const EvalContext& context);
absl::StatusOr<Literal> CusolverCholesky(const EvalContext& context);
absl::StatusOr<Literal> ApproxTopK(const EvalContext& context);
// The routines of ops/vendor/solver_calls.h, through LAPACK; and those that it lacks.
absl::StatusOr<Literal> Cusolver(const EvalContext& context);
absl::StatusOr<Literal> CholeskyUpdate(const EvalContext& context);
absl::StatusOr<Literal> SymmetricProduct(const EvalContext& context);
absl::StatusOr<Literal> SolvePerturbedTridiagonal(const EvalContext& context);
absl::StatusOr<Literal> CsrProduct(const EvalContext& context);
absl::StatusOr<Literal> DeadCodeSink(const EvalContext& context);

// The result, or the first part of one that is a tuple.
inline const Shape& FirstArray(const Shape& shape) {
  return shape.IsTuple() ? shape.elements[0] : shape;
}
// The result of a call: `parts` in front, then zeros for workspaces and whatever else it declares.
absl::StatusOr<Literal> VendorResult(const EvalContext& context, std::vector<Literal> parts);
// Real values as a library stores them: in integers rounded to the nearest, ties to even, and held
// to what the type can hold.
Literal VendorLiteral(const Shape& shape, const std::vector<double>& values);

// The call's result of arrays' values in order: as many as its shape declares before its workspace.
// Errors: a declared array of another size.
absl::StatusOr<Literal> VendorResultOf(const EvalContext& context,
                                       const std::vector<std::vector<double>>& results);
// What oneDNN does after a product or convolution: `fusions` of its configuration, with the
// operands after the first two. A bias has an element for each `bias_stride` results, round and
// round.
absl::Status ApplyOnednnFusions(const EvalContext& context, const ConfigValue& config,
                                int64_t bias_stride, std::vector<double>& values);
// f(x) of an activation by any vendor's name for it ("RELU", "kGelu", "GELU_TANH", ...).
absl::StatusOr<double (*)(double)> FindActivation(absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
