// Markers between code on whole arrays and regions that run on each device's shard of them.
// Around a region every device computes the same on whole arrays: the meaning of a module before
// partitioning.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ops/collective/member_operands.h"
#include "ops/infer/op_table.h"

namespace hlokit {

bool EntersManualRegion(absl::string_view custom_call_target);
bool LeavesManualRegion(absl::string_view custom_call_target);

// This device's shards of the operands.
absl::StatusOr<Literal> EnterManualRegion(const EvalContext& context);
// The whole arrays, of what all partitions bring. Where they bring copies that differ, which a
// sound program does not, each has its own, as after partitioning.
absl::StatusOr<Literal> LeaveManualRegion(const EvalContext& context);
absl::StatusOr<std::vector<Literal>> JoinOperands(const Instruction& instruction,
                                                  absl::Span<const MemberOperands> members);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
