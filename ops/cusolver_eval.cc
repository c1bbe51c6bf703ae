// jaxlib's cuSOLVER and cuBLAS calls, and the TPU's LuDecomposition: LAPACK's routines under other
// names and with other spellings of their flags.
#include <complex>
#include <cstring>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "ops/eval_linalg.h"
#include "ops/eval_vendor.h"
#include "support/status.h"

namespace hlokit {
namespace {

// "getrf" of cusolver_getrf_ffi and cublas_getrf_batched_ffi; empty for another target.
absl::string_view RoutineOf(absl::string_view target) {
  bool known = false;
  for (absl::string_view prefix : {"cusolver_", "cublas_", "hipsolver_", "hipblas_"})
    known = known || absl::ConsumePrefix(&target, prefix);
  if (!known || !absl::ConsumeSuffix(&target, "_ffi")) return "";
  absl::ConsumeSuffix(&target, "_batched");
  for (absl::string_view routine :
       {"potrf", "getrf", "geqrf", "orgqr", "syevd", "gesvd", "gesvdj", "sytrd"})
    if (target == routine) return routine;
  return "";
}

char LetterOf(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return 's';
    case ElementType::kF64:
      return 'd';
    case ElementType::kC64:
      return 'c';
    default:
      return 'z';
  }
}

// The call that jaxlib's CPU kernels would get.
absl::StatusOr<Literal> CallLapack(const EvalContext& context, absl::string_view routine,
                                   const Shape& shape, const std::string& config) {
  Instruction call(Opcode::kCustomCall, shape, {});
  call.mutable_attr<CustomCallAttrs>().target = absl::StrCat(
      "lapack_", std::string(1, LetterOf(context.operands[0]->type())), routine, "_ffi");
  call.mutable_extras().backend_config = config;
  return EvaluateLapack({call, context.operands, context.call, 0, 0, nullptr});
}

std::string LapackConfig(const ConfigValue& config) {
  const bool lower = config.NumberOr("lower", 1) != 0;
  const bool vectors = config.NumberOr("compute_uv", 1) != 0;
  const bool full = config.NumberOr("full_matrices", 0) != 0;
  return absl::StrCat("{uplo = ", int{lower ? 'L' : 'U'}, " : ui8, mode = ",
                      int{!vectors ? 'N'
                          : full   ? 'A'
                                   : 'S'},
                      " : ui8}");
}

template <typename T>
void TransposeAs(const Literal& from, Literal& to, bool conjugate) {
  const int64_t m = to.shape().dims[to.shape().rank() - 2], n = to.shape().dims.back();
  for (int64_t start = 0; start < to.element_count(); start += m * n)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T value = from.as<T>()[start + j * m + i];
        if constexpr (!std::is_arithmetic_v<T>) value = conjugate ? std::conj(value) : value;
        to.as<T>()[start + i * n + j] = value;
      }
}

void Transpose(const Literal& from, Literal& to) {
  switch (from.type()) {
    case ElementType::kF32:
      return TransposeAs<float>(from, to, false);
    case ElementType::kF64:
      return TransposeAs<double>(from, to, false);
    case ElementType::kC64:
      return TransposeAs<std::complex<float>>(from, to, true);
    default:
      return TransposeAs<std::complex<double>>(from, to, true);
  }
}

// gesvdj gives V where LAPACK gives its adjoint.
absl::StatusOr<Literal> SvdByJacobi(const EvalContext& context, const ConfigValue& config) {
  Shape shape = context.instruction.shape();
  if (!shape.IsTuple() || shape.elements.size() < 5 || shape.elements[3].rank() < 2)
    return InvalidArgument("custom-call gesvdj gives ", Text(shape));
  DimVector& dims = shape.elements[3].dims;
  std::swap(dims[dims.size() - 2], dims.back());
  ASSIGN_OR_RETURN(Literal result, CallLapack(context, "gesdd", shape, LapackConfig(config)));
  Literal v(context.instruction.shape().elements[3]);
  Transpose(result.elements()[3], v);
  result.elements()[3] = std::move(v);
  return result;
}

// The routine mode of syevd is always with vectors ('V').
absl::StatusOr<Literal> EigenSymmetric(const EvalContext& context, const ConfigValue& config) {
  const bool complex = IsComplex(context.operands[0]->type());
  const bool lower = config.NumberOr("lower", 1) != 0;
  return CallLapack(
      context, complex ? "heevd" : "syevd", context.instruction.shape(),
      absl::StrCat("{mode = ", int{'V'}, " : ui8, uplo = ", int{lower ? 'L' : 'U'}, " : ui8}"));
}

}  // namespace

bool IsCusolverTarget(absl::string_view target) { return !RoutineOf(target).empty(); }

absl::StatusOr<Literal> Cusolver(const EvalContext& context) {
  const absl::string_view routine = RoutineOf(context.instruction.attr<CustomCallAttrs>().target);
  if (context.operands.empty())
    return InvalidArgument("custom-call ", routine, " without a matrix");
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  if (routine == "gesvdj") return SvdByJacobi(context, config);
  if (routine == "syevd") return EigenSymmetric(context, config);
  const bool complex = IsComplex(context.operands[0]->type());
  const absl::string_view name = routine == "gesvd"              ? "gesdd"
                                 : routine == "orgqr" && complex ? "ungqr"
                                 : routine == "sytrd" && complex ? "hetrd"
                                                                 : routine;
  return CallLapack(context, name, context.instruction.shape(), LapackConfig(config));
}

// The call of XLA's own rewriter: (factor, workspace, info by matrix).
absl::StatusOr<Literal> CusolverCholesky(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands.empty() || !shape.IsTuple() || shape.elements.size() != 3)
    return InvalidArgument("custom-call __cusolver$cholesky gives ", Text(shape));
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const Shape lapack = Shape::Tuple({shape.elements[0], shape.elements[2]});
  ASSIGN_OR_RETURN(Literal result, CallLapack(context, "potrf", lapack, LapackConfig(config)));
  Literal workspace(shape.elements[1]);
  Literal whole = Literal::Tuple(
      {std::move(result.elements()[0]), std::move(workspace), std::move(result.elements()[1])});
  whole.set_shape(shape);
  return whole;
}

// (factors, 0-based pivots, the permutation that they make).
absl::StatusOr<Literal> LuDecomposition(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands.empty() || !shape.IsTuple() || shape.elements.size() != 3 ||
      shape.elements[1].rank() == 0 || shape.elements[2].type != ElementType::kS32)
    return InvalidArgument("custom-call LuDecomposition gives ", Text(shape));
  const Shape lapack = Shape::Tuple({shape.elements[0], shape.elements[1], shape.elements[1]});
  ASSIGN_OR_RETURN(Literal result, CallLapack(context, "getrf", lapack, ""));
  Literal& pivots = result.elements()[1];
  for (int64_t i = 0; i < pivots.element_count(); ++i) --pivots.as<int32_t>()[i];
  Instruction call(Opcode::kCustomCall, shape.elements[2], {});
  call.mutable_attr<CustomCallAttrs>().target = "LuDecomposition";
  const Literal* const operand[] = {&pivots};
  ASSIGN_OR_RETURN(result.elements()[2],
                   PivotsToPermutation({call, operand, context.call, 0, 0, nullptr}));
  result.set_shape(shape);
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
