// Runs in threads of their own.
#include "backends/execution.h"

#include <utility>

#include "support/status.h"
#include "support/threads.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

absl::StatusOr<std::vector<DeviceValue>> RunOn(
    Executable& executable, const std::vector<std::vector<PendingValue>>& arguments) {
  std::vector<std::vector<DeviceValue>> values;
  for (const std::vector<PendingValue>& device : arguments) {
    std::vector<DeviceValue>& of_device = values.emplace_back();
    for (const PendingValue& argument : device) {
      ASSIGN_OR_RETURN(DeviceValue value, argument.Get());
      of_device.push_back(std::move(value));
    }
  }
  std::vector<DeviceViews> views;
  for (const std::vector<DeviceValue>& device : values) {
    DeviceViews& of_device = views.emplace_back();
    for (const DeviceValue& value : device) of_device.push_back(&value);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run, executable.PrepareViews(views));
  RETURN_IF_ERROR(run->Run());
  return run->TakeValues();
}

}  // namespace

absl::StatusOr<DeviceValue> PendingExecution::Result(size_t k) const {
  RETURN_IF_ERROR(done().Await());
  return state_->results[k];
}

absl::StatusOr<PendingExecution> Launch(Executable& executable,
                                        std::vector<std::vector<PendingValue>> arguments,
                                        std::shared_ptr<const void> keep) {
  PendingExecution execution;
  auto thread = StartThread([state = execution.state_, &executable,
                             arguments = std::move(arguments), keep = std::move(keep)]() mutable {
    auto results = WithinMemory("a run", [&] { return RunOn(executable, arguments); });
    arguments.clear();
    if (results.ok()) state->results = *std::move(results);
    state->done.Set(results.status());
  });
  if (!thread.has_value())
    return ResourceExhausted("no thread for a run: the system starts no more");
  thread->detach();
  return execution;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
