// Which device runs which replica and partition of a program, and which of them are here.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hlokit {

// A program of R replicas and P partitions runs on R * P devices. Its *logical* devices are
// numbered replica * P + partition: groups of collectives, replica-id and partition-id go by these.
// Each runs on one *global* device, as the processes of a job number theirs together. A process
// holds some of them, its *local* devices, and gives and gets the arguments and results of these
// alone, in the order of their logical numbers.
class DeviceAssignment {
 public:
  // Logical device i on global device i, all of them local.
  DeviceAssignment(int64_t replicas, int64_t partitions);
  // `global_ids`: by logical device. `local_ids`: the global devices that this process holds; ids
  // that the program does not use play no part. Errors: InvalidArgument for counts below 1, another
  // number of ids than of devices, an id that is negative or comes twice.
  static absl::StatusOr<DeviceAssignment> Make(int64_t replicas, int64_t partitions,
                                               std::vector<int64_t> global_ids,
                                               absl::Span<const int64_t> local_ids);

  int64_t replica_count() const { return replicas_; }
  int64_t partition_count() const { return partitions_; }
  int64_t device_count() const { return replicas_ * partitions_; }
  int64_t LogicalDevice(int64_t replica, int64_t partition) const {
    return replica * partitions_ + partition;
  }
  int64_t ReplicaOf(int64_t logical) const { return logical / partitions_; }
  int64_t PartitionOf(int64_t logical) const { return logical % partitions_; }
  int64_t GlobalDevice(int64_t logical) const { return global_[static_cast<size_t>(logical)]; }
  // The logical numbers of the local devices, ascending.
  absl::Span<const int64_t> local() const { return local_; }
  bool AllLocal() const { return static_cast<int64_t>(local_.size()) == device_count(); }

 private:
  int64_t replicas_, partitions_;
  std::vector<int64_t> global_;  // by logical device
  std::vector<int64_t> local_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
