// Queues between programs and their host.
#include "client/device_queues.h"

#include <chrono>

#include "support/status.h"

namespace hlokit {
namespace {

Literal TakeFront(std::deque<Literal>& queue) {
  Literal item = std::move(queue.front());
  queue.pop_front();
  return item;
}

}  // namespace

void DeviceQueues::PushInfeed(int64_t device, Literal item) {
  const std::lock_guard<std::mutex> lock(mutex_);
  infeed_[device].push_back(std::move(item));
  changed_.notify_all();
}

absl::StatusOr<Literal> DeviceQueues::PopInfeed(int64_t device, const Shape& shape) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::deque<Literal>& queue = infeed_[device];
  changed_.wait(lock, [&] { return closed_ || !queue.empty(); });
  if (queue.empty()) return absl::CancelledError("the client's queues were closed");
  Literal item = TakeFront(queue);
  if (!Compatible(item.shape(), shape))
    return InvalidArgument("the infeed's next item is ", Text(item.shape()), ", expected ",
                           Text(shape));
  return item;
}

void DeviceQueues::PushOutfeed(int64_t device, Literal item) {
  const std::lock_guard<std::mutex> lock(mutex_);
  outfeed_[device].push_back(std::move(item));
  changed_.notify_all();
}

absl::StatusOr<Literal> DeviceQueues::PopOutfeed(int64_t device, double timeout_s) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::deque<Literal>& queue = outfeed_[device];
  const auto ready = [&] { return closed_ || !queue.empty(); };
  constexpr double kForEver = 1e8;  // as far as clocks count
  if (timeout_s < 0 || !(timeout_s < kForEver)) {
    changed_.wait(lock, ready);
  } else {
    changed_.wait_for(lock, std::chrono::duration<double>(timeout_s), ready);
  }
  if (!queue.empty()) return TakeFront(queue);
  if (closed_) return absl::CancelledError("the client's queues were closed");
  return absl::DeadlineExceededError(
      absl::StrCat("the outfeed of device ", device, " gave nothing in ", timeout_s, " seconds"));
}

int64_t DeviceQueues::InfeedSize(int64_t device) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = infeed_.find(device);
  return found == infeed_.end() ? 0 : static_cast<int64_t>(found->second.size());
}

void DeviceQueues::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
