// jaxlib's LAPACK calls as they were before the typed FFI (lapack_sgetrf, blas_dtrsm): sizes and
// flags are scalar operands in front of the matrices, workspaces are results.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "types/literal.h"

namespace hlokit {

// Today's call (lapack_*_ffi) of the same meaning.
struct LegacyLapack {
  std::string target;
  std::string config;             // its flags, as a backend_config
  std::vector<int64_t> operands;  // the operands of the old call that it takes
  std::vector<Shape> results;     // of the old call's results, those that it gives, in its order
  // For each result of the old call, which of `results` it is; -1: a workspace, or the report of a
  // routine that cannot fail, either of them zeros.
  std::vector<int64_t> place;
};

// True for the name of an old call.
bool IsLegacyLapackTarget(absl::string_view target);

// Translates a call with `operand_count` operands and `results`, the parts of its result. `operand`
// gives an operand's value, or null where it is not known, which is fine for matrices and sizes.
// Errors: InvalidArgument for other operands or results than the routine's, for flags that it does
// not have and flags that are not known; Unimplemented for sorted Schur forms and scaled solves.
// Source: jaxlib's lapack.py, release 0.4.14.
absl::StatusOr<LegacyLapack> ReadLegacyLapack(absl::string_view target, int64_t operand_count,
                                              absl::Span<const Shape> results,
                                              absl::FunctionRef<const Literal*(int64_t)> operand);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
