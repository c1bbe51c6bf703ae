// What the CPU's code generation wants of any module, also of one that runs as it stands.
#pragma once

#include "absl/status/status.h"
#include "ir/module.h"

namespace hlokit {

// Afterwards: every computation that runs has one caller; fusions whose bodies are no element loops
// are expanded; constants other than scalars stand outside fusions; async-start/-done are plain
// calls and copies; copies of tuples are copies of
// arrays; collectives of a module for one device are what it sends to itself; custom calls get
// operands in the layouts they name, callees theirs, and the entry's parameters and result lie as
// entry_computation_layout says. Schedules stay schedules.
absl::Status LegalizeForCpu(Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
