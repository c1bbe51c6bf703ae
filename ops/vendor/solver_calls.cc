// The table of vendors' solver routines, and their configurations as LAPACK's.
#include "ops/vendor/solver_calls.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hlokit {
namespace {

// A vendor's routine; LAPACK's for real and for complex matrices, empty where none does just that.
constexpr struct {
  absl::string_view vendor, real, complex;
} kRoutines[] = {
    {"cholesky_update", "", ""},  {"eig_comp", "geev", "geev"},
    {"eig_real", "geev", "geev"}, {"geev", "", ""},
    {"geqp3", "geqp3", "geqp3"},  {"geqrf", "geqrf", "geqrf"},
    {"gesdd", "gesdd", "gesdd"},  {"gesvd", "gesdd", "gesdd"},
    {"gesvdj", "", ""},           {"gesvdp", "", ""},
    {"getrf", "getrf", "getrf"},  {"gtsv2", "", ""},
    {"orgqr", "orgqr", "ungqr"},  {"ormqr", "ormqr", "unmqr"},
    {"potrf", "potrf", "potrf"},  {"syevd", "syevd", "heevd"},
    {"syevj", "syevd", "heevd"},  {"syrk", "", ""},
    {"sytrd", "sytrd", "hetrd"},  {"tridiagonal_solve_perturbed", "", ""},
};

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

}  // namespace

absl::string_view SolverRoutine(absl::string_view target) {
  if (target == "tridiagonal_solve_perturbed_ffi") target.remove_suffix(4);  // the CPU's
  bool known = target == "tridiagonal_solve_perturbed";
  for (absl::string_view prefix : {"cusolver_", "cusparse_", "cuhybrid_", "cublas_", "cu_",
                                   "hipsolver_", "hipsparse_", "hiphybrid_", "hipblas_", "hip_"})
    known = known || absl::ConsumePrefix(&target, prefix);
  if (!known) return "";
  absl::ConsumeSuffix(&target, "_ffi");
  absl::ConsumeSuffix(&target, "_batched");
  for (const auto& row : kRoutines)
    if (row.vendor == target) return row.vendor;
  return "";
}

absl::string_view LapackEquivalent(absl::string_view routine, bool complex) {
  for (const auto& row : kRoutines)
    if (row.vendor == routine) return complex ? row.complex : row.real;
  return "";
}

std::string LapackConfig(absl::string_view routine, const ConfigValue& config) {
  const auto flag = [&](absl::string_view name, int otherwise) {
    return config.NumberOr(name, otherwise) != 0;
  };
  const auto job = [&](absl::string_view name) { return int{flag(name, 1) ? 'V' : 'N'}; };
  if (routine == "ormqr")
    return absl::StrCat("{left = ", int{flag("left", 1)},
                        ", transpose = ", int{flag("transpose", 0)}, "}");
  if (routine == "geev" || absl::StartsWith(routine, "eig_"))
    return absl::StrCat("{compute_left = ", job("left"), " : ui8, compute_right = ", job("right"),
                        " : ui8}");
  const bool eigen = routine == "syevd" || routine == "syevj";
  const char mode = eigen                      ? 'V'  // always with vectors
                    : !flag("compute_uv", 1)   ? 'N'
                    : flag("full_matrices", 0) ? 'A'
                                               : 'S';
  return absl::StrCat("{uplo = ", int{flag("lower", 1) ? 'L' : 'U'}, " : ui8, mode = ", int{mode},
                      " : ui8}");
}

TriangularSolveAttrs CublasTriangular(const ConfigValue& config) {
  TriangularSolveAttrs attrs;
  attrs.left_side = config.NumberOr("left_side", 0) != 0;
  attrs.lower = config.NumberOr("lower", 0) != 0;
  attrs.unit_diagonal = config.NumberOr("unit_diagonal", 0) != 0;
  if (!EnumFromText(config.StringOr("transpose_a", ""), attrs.transpose_a))
    attrs.transpose_a = TriangularTranspose::kNone;
  return attrs;
}

std::string LapackTarget(absl::string_view routine, ElementType type) {
  return absl::StrCat("lapack_", std::string(1, LetterOf(type)), routine, "_ffi");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
