// Any module's values within limits, for targets that run what they read.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "interpreter/interpreter.h"
#include "ir/module.h"
#include "types/literal.h"

namespace hlokit {

// Devices as the module has them, at most four, and limits of steps, memory and time.
InterpreterOptions LimitsFor(const Module& module);

// Small random arguments for the entry computation, always the same; zeros where `zeros` says so.
// Errors: ResourceExhausted where one of them is too large for a fuzz target.
absl::StatusOr<std::vector<Literal>> ArgumentsFor(const Module& module, bool zeros);

// Each device's result, every device on the same arguments. Errors as InterpretDevices.
absl::StatusOr<std::vector<Literal>> EvaluateWithin(const Module& module,
                                                    const std::vector<Literal>& arguments,
                                                    const InterpreterOptions& limits);

// CHECKs that each device's result is the same on both sides; `what` says in the message which two
// executions these are and of what.
void CheckSameResults(const std::vector<Literal>& expected, const std::vector<Literal>& actual,
                      absl::FunctionRef<std::string()> what);

// Whether all right executions give the same values: integers, and floats that are only moved,
// compared and rounded; no random numbers, no host, no calls of foreign code, no sort whose order
// its comparison leaves open.
bool HasOneValue(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
