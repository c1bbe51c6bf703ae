// Copies of a computation's body in another computation.
#pragma once

#include <vector>

#include "ir/computation.h"

namespace hlokit {

// What stands for a parameter where its body is copied: `argument`, or a copy of it where the
// parameter has another layout, which its readers look at.
Instruction* ArgumentFor(const Instruction* parameter, Instruction* argument);

// Copies every instruction of `body` but its parameters, for which `arguments` stand (copied where
// the parameter has another layout), into `into`; control edges among the copies too. Gives what
// the root became, and in `made_list`, where it is not null, the copies.
Instruction* CopyBody(const Computation& body, absl::Span<Instruction* const> arguments,
                      Computation& into, std::vector<Instruction*>* made_list = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
