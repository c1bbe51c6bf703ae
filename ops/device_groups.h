// Which devices of a run exchange data at an instruction.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/instruction.h"

namespace hlokit {

// Devices, replica * partitions + partition, that meet `device` at a collective, in the order of
// its group; empty where the device is in no group. Ids in groups are replicas (no channel),
// partitions (a channel, and no flag to say otherwise), replicas each with all of its partitions (a
// channel, flag false), or devices (flag true); permutes are of all that their pairs may name, by
// whose places in the group they go. Of a custom call out of a manual region: all partitions.
// Errors: InvalidArgument where a group names what is no device; Unimplemented for other opcodes.
absl::StatusOr<std::vector<int64_t>> DeviceGroupOf(const Instruction& instruction, int64_t device,
                                                   int64_t replicas, int64_t partitions);

// What is wrong with the pairs of a collective-permute, whatever devices there are: a negative one
// [collective-permute-c10], or one that comes twice as a source or as a target, unless slices are
// written in place. Empty where nothing is.
std::vector<std::string> PairFaults(const CollectivePermuteAttrs& permute);

// {{0,1},{1,2}} of a send's or receive's frontend attribute: from which device to which; empty
// where it has none, and who comes first receives.
std::vector<std::pair<int64_t, int64_t>> TransferPairs(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
