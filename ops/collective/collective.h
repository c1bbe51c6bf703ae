// What a collective does to the operands of a group of devices, wherever these run.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/collective/member_operands.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// The result of each member, in group order. Start forms get the value of their done.
absl::StatusOr<std::vector<Literal>> EvaluateGroup(const Instruction& instruction,
                                                   absl::Span<const MemberOperands> members,
                                                   const CallComputation& call);

// The result of a start form as its own shape has it: with the operands and contexts around it;
// else the result.
Literal WrapStart(const Instruction& instruction, absl::Span<const Literal* const> operands,
                  Literal result);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
