// Executions under way: results that will be there, and the event of their end.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/backend.h"
#include "support/event.h"

namespace hlokit {

class PendingExecution;
class PendingValue;

// Runs a program once, in a thread of its own, as soon as all arguments are there: one list for
// each local device. Where one never comes the run ends with its error. `keep`, the executable's
// owner, is held until then. Errors: ResourceExhausted where the system starts no thread.
absl::StatusOr<PendingExecution> Launch(Executable& executable,
                                        std::vector<std::vector<PendingValue>> arguments,
                                        std::shared_ptr<const void> keep);

// A run that goes on while its caller does something else. Copies are of the same run.
class PendingExecution {
 public:
  // When all local devices have ended; its status is the run's.
  const Event& done() const { return state_->done.event(); }
  // The result of the k-th local device. Waits for it. Errors: the run's.
  absl::StatusOr<DeviceValue> Result(size_t k) const;

 private:
  friend absl::StatusOr<PendingExecution> Launch(Executable&,
                                                 std::vector<std::vector<PendingValue>>,
                                                 std::shared_ptr<const void>);
  struct State {
    EventSource done;
    std::vector<DeviceValue> results;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// A value that is there, or that an execution under way will give.
class PendingValue {
 public:
  explicit PendingValue(DeviceValue value) : value_(std::move(value)) {}
  PendingValue(PendingExecution execution, size_t k) : execution_(std::move(execution)), k_(k) {}
  Event ready() const { return execution_ ? execution_->done() : Event(); }
  // Waits for it. Errors: the run's.
  absl::StatusOr<DeviceValue> Get() const {
    return execution_ ? execution_->Result(k_) : absl::StatusOr<DeviceValue>(value_);
  }

 private:
  DeviceValue value_;
  std::optional<PendingExecution> execution_;
  size_t k_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
