// The host's ends of the infeed and outfeed of a client's devices.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

#include "absl/status/statusor.h"
#include "types/literal.h"

namespace hlokit {

// First in, first out, by device. For any number of threads.
class DeviceQueues {
 public:
  // Never waits.
  void PushInfeed(int64_t device, Literal item);
  // Waits for an item; programs call it. Errors: InvalidArgument where the item's shape is not
  // `shape` (the item is gone then), Cancelled once closed.
  absl::StatusOr<Literal> PopInfeed(int64_t device, const Shape& shape);
  void PushOutfeed(int64_t device, Literal item);
  // Waits for an item, at most `timeout_s` seconds (negative: for ever). Errors: DeadlineExceeded,
  // Cancelled once closed.
  absl::StatusOr<Literal> PopOutfeed(int64_t device, double timeout_s);
  int64_t InfeedSize(int64_t device) const;
  // Wakes all who wait; nothing waits any more.
  void Close();

 private:
  using Queues = std::map<int64_t, std::deque<Literal>>;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Queues infeed_, outfeed_;
  bool closed_ = false;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
