// What keeps two collectives of one kind from becoming one: marks that schedulers and runtimes
// read.
//   frontend_attributes={_scheduling_group_id="1"} frontend_attributes={collective_group_key="g"}
#pragma once

#include "ir/module.h"

namespace hlokit {

// The value of a frontend attribute; null where the instruction has none of that name.
const std::string* FindFrontendAttribute(const Instruction& i, absl::string_view key);
// Whether the instruction belongs to a group that a scheduler keeps together.
bool HasSchedulingAnnotation(const Instruction& i);
// Whether both carry the same scheduling annotation and the same key of a group of collectives, or
// none.
bool SameMarks(const Instruction& a, const Instruction& b);
// Whether a collective of the module is held to the layouts it has (constrain_layout=true): then
// passes that make others of them leave the module alone.
bool HasConstrainedLayouts(const Module& module, Opcode opcode);
// A copy of a combination of two scalars, on another type of element.
Computation* ReducerOn(Module& module, const Computation& reducer, ElementType type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
