// Programs of several partitions on whole arrays: parts joined before a run and cut after it.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/objects.h"

namespace hlokit {

using Values = std::vector<std::shared_ptr<GlobalData>>;

// From each device's parts, replica by replica, the whole arguments of each run: one for each
// device, or for each replica where its partitions compute the same.
absl::StatusOr<std::vector<Values>> WholeArguments(const PjrtModule& module,
                                                   const std::vector<Values>& parts);
// From the results of those runs each device's parts.
absl::StatusOr<std::vector<Values>> PartsOfResults(const PjrtModule& module,
                                                   const std::vector<Values>& wholes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
