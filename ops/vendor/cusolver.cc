// jaxlib's cuSOLVER and cuBLAS calls, and the TPU's LuDecomposition: LAPACK's routines under other
// names and with other spellings of their flags.
#include <algorithm>
#include <complex>

#include "ops/evaluate/linalg.h"
#include "ops/vendor/solver_calls.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The call that jaxlib's CPU kernels would get.
absl::StatusOr<Literal> CallLapack(const EvalContext& context, absl::string_view routine,
                                   const Shape& shape, const std::string& config) {
  Instruction call(Opcode::kCustomCall, shape, {});
  call.mutable_attr<CustomCallAttrs>().target = LapackTarget(routine, context.operands[0]->type());
  call.mutable_extras().backend_config = config;
  return EvaluateLapack({call, context.operands, context.call, 0, 0, nullptr});
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

// gesvdj and gesvdp give V where LAPACK gives its adjoint.
absl::StatusOr<Literal> SvdByJacobi(const EvalContext& context, const ConfigValue& config) {
  Shape shape = context.instruction.shape();
  if (!shape.IsTuple() || shape.elements.size() < 5 || shape.elements[3].rank() < 2)
    return InvalidArgument("custom-call gesvd gives ", Text(shape));
  DimVector& dims = shape.elements[3].dims;
  std::swap(dims[dims.size() - 2], dims.back());
  ASSIGN_OR_RETURN(Literal result,
                   CallLapack(context, "gesdd", shape, LapackConfig("gesvdj", config)));
  Literal v(context.instruction.shape().elements[3]);
  Transpose(result.elements()[3], v);
  result.elements()[3] = std::move(v);
  return result;
}

// A call on a transposed matrix gives the adjoint of V before U; one that asks for neither has two
// scalars in their places.
absl::StatusOr<Literal> Svd(const EvalContext& context, const ConfigValue& config) {
  const Shape& declared = context.instruction.shape();
  const Shape& matrix = context.operands[0]->shape();
  if (!declared.IsTuple() || declared.elements.size() < 5 || matrix.rank() < 2)
    return InvalidArgument("custom-call gesvd of ", Text(matrix), " gives ", Text(declared));
  Shape shape = declared;
  const bool transposed = config.NumberOr("transposed", 0) != 0;
  const bool vectors = config.NumberOr("compute_uv", 1) != 0;
  if (transposed) std::swap(shape.elements[2], shape.elements[3]);
  if (!vectors) {
    DimVector u = matrix.dims, v = matrix.dims;
    const size_t rank = matrix.dims.size();
    u[rank - 1] = v[rank - 2] = std::min(matrix.dims[rank - 2], matrix.dims[rank - 1]);
    shape.elements[2] = Shape::Array(matrix.type, u);
    shape.elements[3] = Shape::Array(matrix.type, v);
  }
  ASSIGN_OR_RETURN(Literal result,
                   CallLapack(context, "gesdd", shape, LapackConfig("gesvd", config)));
  if (transposed) std::swap(result.elements()[2], result.elements()[3]);
  for (size_t k = 2; !vectors && k < 4; ++k) result.elements()[k] = Literal(declared.elements[k]);
  result.set_shape(declared);
  return result;
}

// Two real columns, its real and its imaginary part, for each pair of conjugate eigenvectors.
template <typename T>
void PackPairs(const Literal& vectors, const Literal& imaginary, Literal& packed) {
  const int64_t n = packed.shape().dims.back();
  const auto from = vectors.as<std::complex<T>>();
  for (int64_t row = 0; row < (n == 0 ? 0 : packed.element_count() / n); ++row)
    for (int64_t j = 0; j < n; ++j) {
      const bool second = imaginary.as<T>()[row / n * n + j] < 0;
      packed.as<T>()[row * n + j] =
          second ? from[row * n + j - 1].imag() : from[row * n + j].real();
    }
}

template <typename T>
void JoinParts(const Literal& real, const Literal& imaginary, Literal& whole) {
  for (int64_t i = 0; i < whole.element_count(); ++i)
    whole.as<std::complex<T>>()[i] = {real.as<T>()[i], imaginary.as<T>()[i]};
}

// cuSOLVER's geev: (matrix, complex eigenvalues, left and right vectors of the matrix's own type,
// info).
absl::StatusOr<Literal> EigenGeneral(const EvalContext& context, const ConfigValue& config) {
  const Shape& shape = context.instruction.shape();
  if (!shape.IsTuple() || shape.elements.size() != 5 || shape.elements[1].rank() == 0)
    return InvalidArgument("custom-call geev gives ", Text(shape));
  const ElementType type = context.operands[0]->type();
  if (shape.elements[0].type != type || shape.elements[2].type != type ||
      shape.elements[3].type != type ||
      shape.elements[1].type != (IsComplex(type) ? type : ComplexOf(type)))
    return InvalidArgument("custom-call geev of ", Text(context.operands[0]->shape()), " gives ",
                           Text(shape));
  std::vector<Shape> parts(shape.elements.begin() + 1, shape.elements.end());
  if (!IsComplex(type)) {
    parts[0].type = type;
    parts.insert(parts.begin(), parts[0]);
    parts[2].type = parts[3].type = ComplexOf(type);
  }
  ASSIGN_OR_RETURN(Literal result,
                   CallLapack(context, "geev", Shape::Tuple(parts), LapackConfig("geev", config)));
  std::vector<Literal> whole;
  for (const Shape& element : shape.elements) whole.emplace_back(element);
  whole[4] = result.elements().back();
  if (IsComplex(type)) {
    for (size_t k = 1; k < 4; ++k) whole[k] = std::move(result.elements()[k - 1]);
  } else if (type == ElementType::kF32) {
    JoinParts<float>(result.elements()[0], result.elements()[1], whole[1]);
    for (size_t k = 2; k < 4; ++k)
      PackPairs<float>(result.elements()[k], result.elements()[1], whole[k]);
  } else {
    JoinParts<double>(result.elements()[0], result.elements()[1], whole[1]);
    for (size_t k = 2; k < 4; ++k)
      PackPairs<double>(result.elements()[k], result.elements()[1], whole[k]);
  }
  return Literal::Tuple(std::move(whole));
}

// cuSPARSE's gtsv2 gives the solution alone.
absl::StatusOr<Literal> SolveTridiagonal(const EvalContext& context) {
  if (context.operands.size() != 4 || context.operands[3]->shape().rank() < 2)
    return InvalidArgument("custom-call gtsv2 takes three diagonals and a matrix");
  std::vector<Shape> parts;
  for (const Literal* operand : context.operands) parts.push_back(operand->shape());
  const DimVector& dims = parts[3].dims;
  parts.push_back(Shape::Array(ElementType::kS32, DimVector(dims.begin(), dims.end() - 2)));
  ASSIGN_OR_RETURN(Literal result, CallLapack(context, "gtsv", Shape::Tuple(parts), "{}"));
  if (!Compatible(result.elements()[3].shape(), context.instruction.shape()))
    return InvalidArgument("custom-call gtsv2 of ", Text(parts[3]), " gives ",
                           Text(context.instruction.shape()));
  return std::move(result.elements()[3]);
}

}  // namespace

absl::StatusOr<Literal> Cusolver(const EvalContext& context) {
  const absl::string_view routine =
      SolverRoutine(context.instruction.attr<CustomCallAttrs>().target);
  if (context.operands.empty())
    return InvalidArgument("custom-call ", routine, " without a matrix");
  if (routine == "syrk") return SymmetricProduct(context);
  if (routine == "cholesky_update") return CholeskyUpdate(context);
  if (routine == "gtsv2") return SolveTridiagonal(context);
  if (routine == "tridiagonal_solve_perturbed") return SolvePerturbedTridiagonal(context);
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  if (routine == "gesvdj" || routine == "gesvdp") return SvdByJacobi(context, config);
  if (routine == "geev") return EigenGeneral(context, config);
  if (routine == "gesvd" || routine == "gesdd") return Svd(context, config);
  return CallLapack(context, LapackEquivalent(routine, IsComplex(context.operands[0]->type())),
                    context.instruction.shape(), LapackConfig(routine, config));
}

// The call of XLA's own rewriter: (factor, workspace, info by matrix).
absl::StatusOr<Literal> CusolverCholesky(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands.empty() || !shape.IsTuple() || shape.elements.size() != 3)
    return InvalidArgument("custom-call __cusolver$cholesky gives ", Text(shape));
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const Shape lapack = Shape::Tuple({shape.elements[0], shape.elements[2]});
  ASSIGN_OR_RETURN(Literal result,
                   CallLapack(context, "potrf", lapack, LapackConfig("potrf", config)));
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
