// User data of runs, and their numbers.
#include "ffi/surroundings.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {

FfiUserData::~FfiUserData() {
  for (const auto& [type, object] : objects_)
    if (object.deleter != nullptr) object.deleter(object.data);
}

absl::Status FfiUserData::Add(int64_t type, void* data, void (*deleter)(void* data)) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!objects_.emplace(type, Object{data, deleter}).second)
    return absl::AlreadyExistsError(
        absl::StrCat("User data with type id ", type, " already exists in execution context"));
  return absl::OkStatus();
}

absl::StatusOr<void*> FfiUserData::Find(int64_t type) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = objects_.find(type);
  if (found == objects_.end())
    return NotFound("User data with type id ", type, " not found in execution context");
  return found->second.data;
}

namespace {

int64_t NextRunId() {
  static std::atomic<int64_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

FfiRun::FfiRun(std::shared_ptr<const FfiUserData> lent)
    : id(NextRunId()), user_data(std::move(lent)) {}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
