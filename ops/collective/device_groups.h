// Which devices of a run exchange data at an instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/instruction.h"

namespace hlokit {

// What the numbers in replica_groups and source_target_pairs count. Source: XLA's
// GetCollectiveOpGroupMode.
enum class CollectiveOpGroupMode : uint8_t {
  kCrossReplica,              // replicas, each device with those of its partition: no channel
  kCrossPartition,            // partitions, of one replica: a channel, and no flag
  kCrossReplicaAndPartition,  // replicas, each with all of its partitions: a channel, flag false
  kFlattenedID,               // devices, replica * partitions + partition: flag true
};

// What a collective says of the devices that take part.
struct CollectiveGroups {
  std::optional<int64_t> channel_id;
  // Of a collective-permute nothing: all devices that its pairs may name take part.
  const ReplicaGroups* groups = nullptr;
  std::optional<bool> use_global_device_ids;  // nothing: the opcode has no such flag
  CollectiveOpGroupMode mode() const;
};

// Of every opcode that has a channel and replica groups or source-target pairs; nothing for others.
std::optional<CollectiveGroups> CollectiveGroupsOf(const Instruction& instruction);

// How many ids there are of what a mode counts; the largest number where that is too many.
int64_t IdCount(CollectiveOpGroupMode mode, int64_t replicas, int64_t partitions);

// Devices, replica * partitions + partition, that meet `device` at a collective, in the order of
// its group; empty where the device is in no group. Permutes are of all that their pairs may name,
// by whose places in the group they go. Of a custom call out of a manual region: all partitions.
// Errors: InvalidArgument where a group names what is no device; Unimplemented for other opcodes.
absl::StatusOr<std::vector<int64_t>> DeviceGroupOf(const Instruction& instruction, int64_t device,
                                                   int64_t replicas, int64_t partitions);

// The same of each device, 0 to replicas * partitions - 1, reading the groups once. Errors: of the
// first device that has one.
absl::StatusOr<std::vector<std::vector<int64_t>>> DeviceGroupsOf(const Instruction& instruction,
                                                                 int64_t replicas,
                                                                 int64_t partitions);

// What is wrong with the pairs of a collective-permute, whatever devices there are: a negative one
// [collective-permute-c10], or one that comes twice as a source or as a target, unless slices are
// written in place. Empty where nothing is.
std::vector<std::string> PairFaults(const CollectivePermuteAttrs& permute);

// {{0,1},{1,2}} of a send's or receive's frontend attribute: from which device to which; empty
// where it has none, and who comes first receives.
std::vector<std::pair<int64_t, int64_t>> TransferPairs(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
