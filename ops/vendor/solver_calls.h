// The names under which jaxlib calls GPU solvers, and the LAPACK routines that stand for them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "ir/attributes.h"
#include "ops/vendor/call_config.h"
#include "types/element_type.h"

namespace hlokit {

// "getrf" of cusolver_getrf_ffi and cublas_getrf_batched_ffi, "gtsv2" of cusparse_gtsv2_ffi,
// "eig_real" of cuhybrid_eig_real, and of ROCm's spellings; empty for another target.
absl::string_view SolverRoutine(absl::string_view target);

// The LAPACK routine that gives the same results from the same operands, such as "ungqr" for
// "orgqr" of complex matrices; empty where results or flags differ in more than spelling.
absl::string_view LapackEquivalent(absl::string_view routine, bool complex);

// The configuration of that routine, from the vendor's.
std::string LapackConfig(absl::string_view routine, const ConfigValue& config);

// How __cublas$triangularSolve solves.
TriangularSolveAttrs CublasTriangular(const ConfigValue& config);

// "lapack_dgetrf_ffi".
std::string LapackTarget(absl::string_view routine, ElementType type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
