// The evaluation function of every opcode, as ir/ops.def names them.
#pragma once

#include "ops/infer/op_table.h"

namespace hlokit {

#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  absl::StatusOr<Literal> Evaluate##evaluate(const EvalContext& context);
#include "ir/ops.def"
#undef HLO_OP

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
