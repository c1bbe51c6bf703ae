// Custom calls that somebody registered: their buffers in the layouts the call names.
#pragma once

#include "absl/status/statusor.h"
#include "ffi/registry.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// Errors: the function's own, with the target's name; InvalidArgument for a backend_config that
// does not read.
absl::StatusOr<Literal> CallForeign(const EvalContext& context, hlokit_ffi_function function);
// By XLA's first interface, of a symbol alone.
absl::StatusOr<Literal> CallPlain(const EvalContext& context, PlainCustomCall function);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
