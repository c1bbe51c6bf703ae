// Several loops made one fusion.
#pragma once

#include <string>
#include <vector>

#include "ir/computation.h"

namespace hlokit {

// Users of an array that are looked at; where there are more, they are not known.
inline constexpr size_t kMaxUsersSeen = 64;

// Whether something else writes over an array that `i` reads, so that one of the two must wait.
bool ReadsUpdated(const Instruction& i);

// Puts a loop fusion of a tuple in the places of `members`, operands before users: elementwise
// instructions, reductions, and fusions of these that give an array or a tuple of arrays. What they
// have in common is done once. Gives a get-tuple-element for each result, member by member; users
// of a member that gives a tuple must be get-tuple-elements.
std::vector<Instruction*> MergeIntoFusion(Computation& c, absl::Span<Instruction* const> members,
                                          const std::string& name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
