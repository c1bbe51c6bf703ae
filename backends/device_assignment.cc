// Logical devices, the global devices that run them, and those of this process.
#include "backends/device_assignment.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "support/status.h"

namespace hlokit {

DeviceAssignment::DeviceAssignment(int64_t replicas, int64_t partitions)
    : replicas_(replicas), partitions_(partitions), global_(replicas * partitions) {
  std::iota(global_.begin(), global_.end(), 0);
  local_ = global_;
}

absl::StatusOr<DeviceAssignment> DeviceAssignment::Make(int64_t replicas, int64_t partitions,
                                                        std::vector<int64_t> global_ids,
                                                        absl::Span<const int64_t> local_ids) {
  int64_t devices = 0;
  if (replicas < 1 || partitions < 1 || __builtin_mul_overflow(replicas, partitions, &devices) ||
      devices != static_cast<int64_t>(global_ids.size()))
    return InvalidArgument(global_ids.size(), " device ids for ", replicas, " replicas of ",
                           partitions, " partitions");
  std::vector<int64_t> sorted = global_ids;
  std::sort(sorted.begin(), sorted.end());
  if (sorted[0] < 0) return InvalidArgument("a device assignment names device ", sorted[0]);
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return InvalidArgument("a device assignment names device ", *twice, " twice");
  DeviceAssignment made(1, 1);
  made.replicas_ = replicas;
  made.partitions_ = partitions;
  made.global_ = std::move(global_ids);
  made.local_.clear();
  for (int64_t logical = 0; logical < devices; ++logical)
    if (std::find(local_ids.begin(), local_ids.end(), made.GlobalDevice(logical)) !=
        local_ids.end())
      made.local_.push_back(logical);
  return made;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
