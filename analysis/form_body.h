// Bodies of custom fusions against the forms that analyses find in them.
#pragma once

#include <algorithm>

#include "absl/types/span.h"
#include "ir/computation.h"

namespace hlokit {

// Whether a body holds `members` instructions and its parameters alone, and what the form reads
// (null: nothing) are parameters.
inline bool HoldsFormAlone(const Computation& body, size_t members,
                           absl::Span<const Instruction* const> operands) {
  return static_cast<size_t>(body.instruction_count() - body.parameter_count()) == members &&
         std::all_of(operands.begin(), operands.end(), [](const Instruction* operand) {
           return operand == nullptr || operand->IsParameter();
         });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
