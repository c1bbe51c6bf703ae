// What must hold of instructions and computations that come from messages, before the verifier can
// look at them. Errors: InvalidArgument with the path of the field.
#pragma once

#include "absl/status/status.h"
#include "ir/computation.h"
#include "proto/messages_internal.h"

namespace hlokit {

absl::Status CheckOperands(const Instruction& instruction);
absl::Status CheckCalled(const Instruction& instruction);
// An async-start is of ((operands...), results, state...).
absl::Status CheckAsyncShape(const Instruction& instruction);
// Parameters are numbered from 0 on, each once; registers them.
absl::Status CheckParameters(Computation& computation);

// The message joins the sizes of all slices of a collective-permute; each has as many as its
// operand has dimensions. Other opcodes keep what they have.
void SplitSliceSizes(const google::protobuf::RepeatedField<int64_t>& sizes,
                     Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
