// What a pass has changed, as part of the page's data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/hlo-viz/explorer/page_data_inputs.h"
#include "tools/hlo-viz/graph/scope_tree.h"

namespace hlokit {

// Appends `,"diff":null`, or with a module before `,"diff":{"state":[...],"was":[...],
// "removed":[...],"more":n}`: pairs of instruction and 1 (added) or 2 (changed); for the changed
// [instruction, what differs, its text before]; for what is gone [name, text, opcode, shape, scope,
// place, operands, users, op_name, source frames], where `scope` is the scope of `tree` that it
// would stand in (-1: none is left), `place` the instruction that it would stand before, and
// operands and users are instructions of this module or, as -1 - k, removed number k. `more` were
// removed beyond those told. `number`: by instruction id.
void AppendDifference(std::string& out, const ModuleIndex& index, const ScopeTree& tree,
                      const std::vector<int64_t>& number, const PageDataInputs& inputs);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
