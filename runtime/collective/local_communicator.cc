// Messages between threads: copied by the sender, taken by the receiver.
#include "runtime/collective/local_communicator.h"

#include <utility>

namespace hlokit {

LocalCommunicator::Message LocalCommunicator::Copied(
    std::span<const std::span<const char>> arrays) {
  Message message;
  for (const std::span<const char> array : arrays) message.emplace_back(array.begin(), array.end());
  return message;
}

void LocalCommunicator::Deliver(int64_t channel, int64_t target, Message message) {
  mailboxes_.Send(channel, target, std::move(message));
}

void LocalCommunicator::Send(const Waiter&, int64_t channel, int64_t target,
                             std::span<const std::span<const char>> arrays) {
  Deliver(channel, target, Copied(arrays));
}

Communicator::End LocalCommunicator::Receive(const Waiter& waiter, int64_t channel, int64_t target,
                                             const Take& take) {
  Message message;
  const End end = mailboxes_.Receive(waiter, channel, target, message);
  if (end != End::kNone) return end;
  take(std::vector<std::span<const char>>(message.begin(), message.end()));
  return End::kNone;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
