// Triangular solves and LAPACK, shared by ops and by custom calls that name LAPACK routines.
#pragma once

#include "absl/status/statusor.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// x of op(a) x = b or x op(a) = b; `shape` is b's.
Literal SolveTriangular(const Literal& a, const Literal& b, const TriangularSolveAttrs& attrs,
                        const Shape& shape);

// True if `target` names a routine that EvaluateLapack knows: lapack_{s,d,c,z}NAME_ffi, Qr, Eigh
// and the like.
bool IsLapackTarget(absl::string_view target);
// The custom call as jaxlib's kernels define it: outputs, info and 1-based pivots included.
absl::StatusOr<Literal> EvaluateLapack(const EvalContext& context);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
