// Collectives that devices compute in each other's memory.
#pragma once

#include "interpreter/interpreter.h"

namespace hlokit {

// Whether the instruction is an all-reduce, all-gather or reduce-scatter of row-major arrays, with
// a reducer of one operation.
bool HasDirectExchange(const Instruction& instruction);

// Runs such an instruction on one device; all of its group must come. Each device makes its share:
// of an all-reduce the elements of one range for all, of an all-gather its own part for all, of a
// reduce-scatter its own result. Members are folded in the group's order, so that bits are those of
// the interpreter. `operands` and `results` hold a pointer for each array. Errors: those of
// DeviceGroup::Meet.
absl::Status ExchangeDirectly(DeviceGroup& group, int64_t device, const Instruction& instruction,
                              const void* const* operands, void* const* results);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
