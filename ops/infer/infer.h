// Shape inference of each opcode: what ops.def's seventh column names. One file per family defines
// them.
#pragma once

#include "absl/status/statusor.h"
#include "ops/op_view.h"

namespace hlokit {

// absl::StatusOr<Shape> Infer<X>(const OpView&): the result's shape without layouts, or an error
// labelled OP-cN. Rule 1 of every op is that its operands are of the right kind (arrays, tokens,
// a tuple); `InferShape` has checked their number. Opcodes that share a function declare it more
// than once, which C++ allows.
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  absl::StatusOr<Shape> Infer##infer(const OpView& op);
#include "ir/ops.def"
#undef HLO_OP

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
