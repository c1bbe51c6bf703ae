// The processes that run one program together, as hlo-run sees them from one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/backend.h"
#include "ir/module.h"
#include "runtime/collective/process_group.h"
#include "tools/hlo-run/options.h"
#include "types/literal.h"

namespace hlokit {

class Job {
 public:
  // By --distributed: mpi; none; or auto, which is MPI where a launcher has started several
  // processes. Null where this process runs alone. Errors: no MPI library; flags that only work in
  // one process.
  static absl::StatusOr<std::unique_ptr<Job>> Start(const RunOptions& options);

  ~Job();

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  // Whether this process prints and writes for all.
  bool speaks() const { return rank() == 0; }

  // Waits for all processes. Errors: InvalidArgument where the programs, the modules or the flags
  // that decide what a module computes differ; Unavailable where a process has failed, with its
  // message.
  absl::Status AgreeOn(const Module& module, const RunOptions& options);
  // The devices of the module, divided among the processes in the order of ranks: as many to each,
  // or --local-devices. Errors: InvalidArgument where they do not divide.
  absl::StatusOr<DeviceAssignment> Assign(const Module& module, int64_t local_devices) const;
  CommunicatorFactory Communicators();
  // Lines of rank, host, device, replica and partition.
  absl::StatusOr<std::string> Table(const DeviceAssignment& devices);
  // The results of all devices on rank 0, by logical number, and nothing on the others.
  // `own`: of the local devices.
  absl::StatusOr<std::vector<Literal>> Gather(std::vector<Literal> own,
                                              const DeviceAssignment& devices);
  // What rank 0 found, told to all.
  absl::StatusOr<bool> Tell(bool agrees);
  // This process ends with `status`: the others end too, and say why. What is said first counts.
  void Fail(const absl::Status& status);

 private:
  Job(std::unique_ptr<Transport> transport, double timeout_s);
  absl::Status Ended() const;
  absl::Status Finish(std::vector<Transport::Request>& requests);

  ProcessGroup group_;
  bool failed_ = false;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
