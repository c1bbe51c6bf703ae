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

// How a merged fusion is called, what the names of what came from other members than the first end
// in, and its kind. Where it takes names, it and its body are called what the first member was,
// which gets theirs.
struct MergedForm {
  std::string name;
  std::string suffix = {};
  FusionKind kind = FusionKind::kLoop;
  bool takes_names = false;
  // Constants of one element stand in the fusion, which would else read them from memory.
  bool copies_constants = false;
  // Arrays of members that other members alone read are no results.
  bool drops_inner = false;
};

// Puts a fusion of a tuple in the places of `members`, operands before users: elementwise
// instructions, reductions, and fusions of these that give an array or a tuple of arrays. What they
// have in common is done once. Gives a get-tuple-element for each result, member by member; users
// of a member that gives a tuple must be get-tuple-elements.
std::vector<Instruction*> MergeIntoFusion(Computation& c, absl::Span<Instruction* const> members,
                                          const MergedForm& form);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
