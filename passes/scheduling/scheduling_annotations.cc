// Groups of instructions that a scheduler is to overlap.
//
// _scheduling_group_id, where it may stand.
#include <map>

#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/memory_spaces.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kGroup = "_scheduling_group_id";

std::map<std::string, std::vector<Instruction*>> GroupsIn(const Computation& c) {
  std::map<std::string, std::vector<Instruction*>> groups;
  for (Instruction* i : c.PostOrder()) {
    const absl::string_view group = FrontendAttribute(*i, kGroup);
    if (!group.empty()) groups[std::string(group)].push_back(i);
  }
  return groups;
}

void DropGroup(Instruction& i) {
  std::erase_if(i.mutable_extras().frontend_attributes,
                [](const auto& attribute) { return attribute.first == kGroup; });
}

bool MayHaveGroup(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
      return false;
    default:
      return true;
  }
}

absl::StatusOr<bool> Legalize(Computation& c) {
  bool changed = false;
  for (auto& [group, members] : GroupsIn(c)) {
    std::vector<Instruction*> kept;
    for (Instruction* i : members)
      if (MayHaveGroup(i)) kept.push_back(i);
    if (kept.size() == members.size() && kept.size() > 1) continue;
    for (Instruction* i : members)
      if (kept.size() < 2 || !MayHaveGroup(i)) DropGroup(*i);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> Check(Computation& c) {
  for (const auto& [group, members] : GroupsIn(c))
    for (const Instruction* i : members) {
      for (Instruction* other : members) {
        const bool own_start =
            i->operand_count() == 1 && i->operand(0) == other && HasTrait(i->opcode(), kAsyncDone);
        if (other == i || own_start || !Needs(i, {other})) continue;
        // What the start needs, its done needs too.
        if (HasTrait(i->opcode(), kAsyncDone)) continue;
        return InvalidArgument(i->name(), " needs ", other->name(), ", which is of its own group ",
                               group);
      }
    }
  return false;
}

}  // namespace

// legalize-scheduling-annotations: parameters, constants, bitcasts, tuples and their parts, which
// run at no time, lose their group, as does a member that is left alone in its computation. Values
// stay as they were.
std::unique_ptr<Pass> CreateLegalizeSchedulingAnnotations() {
  return MakeComputationPass("legalize-scheduling-annotations", Legalize);
}

// check-no-data-dependency-in-scheduling-annotations: changes nothing. Errors: InvalidArgument
// where an instruction of a group needs another of it, but for the done that follows its start.
std::unique_ptr<Pass> CreateCheckSchedulingAnnotations() {
  return MakeComputationPass("check-no-data-dependency-in-scheduling-annotations", Check);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
