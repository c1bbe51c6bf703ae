// Collectives and messages between devices as calls of the runtime
// (runtime/collective/collective.h).
#pragma once

#include "absl/status/status.h"
#include "backends/cpu/library_calls/call_site.h"
#include "ir/module.h"

namespace hlokit {

// Whether the instruction exchanges data with other devices: a collective, send or recv-done, if
// not with the host.
bool IsDeviceCommunication(const Instruction& instruction);

// OK where code can be emitted for all exchanges of the module, for as many devices as its
// header says: then all of them meet in the runtime, and none by way of the interpreter.
// Errors, with the instruction's place: Unimplemented for halves of collectives that were not
// joined, for operands in other layouts than results, for permutes of slices, and for what leaves a
// manual region; InvalidArgument for groups that name no device or do not go with the shapes.
absl::Status CheckCollectives(const Module& module);

// Calls hlokit_collective. Precondition: CheckCollectives holds. Gives the instruction of the
// reducer that has no code; null where all is well.
const Instruction* EmitCollective(CallSite& site, const Instruction& instruction,
                                  const ModuleHeader& header);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
