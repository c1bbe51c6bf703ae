// All groups of devices that exchange data at an instruction, each once.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/instruction.h"

namespace hlokit {

// The groups that DeviceGroupsOf gives, without one copy for each member: of one group of ten
// thousand devices ten thousand numbers. Devices in no group are in none of the lists. Errors: as
// DeviceGroupsOf.
absl::StatusOr<std::vector<std::vector<int64_t>>> DeviceGroupListOf(const Instruction& instruction,
                                                                    int64_t replicas,
                                                                    int64_t partitions);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
