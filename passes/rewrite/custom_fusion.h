// Custom fusions of instructions that a target computes in one call.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/instruction.h"

namespace hlokit {

// Puts a custom fusion called `name`_fusion in the place of `last`, the last of `members`
// (instructions of one computation, operands before users). Its body, `name`, holds copies of them;
// its operands are `operands`, each once, null ones left out: all that the members read besides
// each other. Metadata and the like are those of `described`. The members stay, without users where
// nothing else reads them.
Instruction* PutCustomFusion(absl::string_view name, Instruction* last,
                             absl::Span<const Instruction* const> members,
                             absl::Span<const Instruction* const> operands,
                             const Instruction& described);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
