// Who takes part in a collective, and at which place.
#pragma once

#include <optional>
#include <vector>

#include "passes/hlo_writer.h"

namespace hlokit {

// What all collectives that name groups have. Groups are of replicas where there is no channel, of
// partitions or replicas as `global` says where there is one.
struct CollectiveFacts {
  std::optional<int64_t> channel;
  const ReplicaGroups* groups = nullptr;
  bool global = false;
};
// Of all-reduce, all-gather, reduce-scatter, all-to-all and collective-broadcast, and the starts of
// the first two; nothing for other instructions.
std::optional<CollectiveFacts> FactsOf(const Instruction& i);

// The groups spelled out; one of all devices where none are named.
std::vector<std::vector<int64_t>> GroupsOf(const Instruction& collective);
// How many devices a group has; 0 where groups differ.
int64_t GroupSize(const Instruction& collective);
// The running device's place within its group, an s32 scalar; null where the module's numbers of
// replicas and partitions do not tell it.
Instruction* PlaceInGroup(HloWriter& w, const Instruction& collective);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
