// Who takes part in a collective, and at which place.
#pragma once

#include <optional>
#include <vector>

#include "ops/collective/device_groups.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

// The groups of a collective that has them, spelled out; one of all where none are named, none
// where these are too many. Replicas with all of their partitions are written as devices.
std::vector<std::vector<int64_t>> GroupsOf(const Instruction& collective);
// How many devices a group has; 0 where groups differ or are not known.
int64_t GroupSize(const Instruction& collective);
// The largest channel of a module's collectives; 0 where none has one.
int64_t LargestChannel(const Module& module);
// The running device's place within its group, a u32 scalar: its number, or an entry of a table.
// Null where the groups name what the module's numbers of replicas and partitions do not have.
Instruction* PlaceInGroup(HloWriter& w, const Instruction& collective);

// What the integer scalar `start` is on each id that the collective's groups number: sums,
// differences and products of ids, constants and entries of constant tables. Nothing where it is no
// such.
std::optional<std::vector<int64_t>> ByDevice(const Instruction* start,
                                             const Instruction& collective);

// True if `i` is one of `group` or needs one of it, through operands and control dependences. Cost:
// the size of what it needs.
bool Needs(const Instruction* i, absl::Span<Instruction* const> group);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
