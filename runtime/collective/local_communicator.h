// What every communicator has whose local devices are threads of this process: their waits, and the
// messages between them.
#pragma once

#include <string>
#include <vector>

#include "runtime/collective/communicator.h"

namespace hlokit {

class LocalCommunicator : public Communicator {
 public:
  int64_t device_count() const final { return devices_; }
  void Send(const Waiter& waiter, int64_t channel, int64_t target,
            std::span<const std::span<const char>> arrays) override;
  End Receive(const Waiter& waiter, int64_t channel, int64_t target, const Take& take) override;
  void Leave(int64_t device, bool failed) override { waits_.Leave(device, failed); }
  void Abort(const std::string& reason) override { waits_.Stop(reason); }
  End end(int64_t device) const final { return waits_.end(device); }
  int64_t ended_at(int64_t device) const final { return waits_.ended_at(device); }
  std::string Text(End end, const Waiter& waiter) const final { return waits_.Text(end, waiter); }

 protected:
  using Message = std::vector<std::vector<char>>;  // by array

  // `all_here`: no device is in another process.
  LocalCommunicator(int64_t devices, bool all_here)
      : devices_(devices), waits_(devices, all_here), mailboxes_(waits_) {}

  static Message Copied(std::span<const std::span<const char>> arrays);
  // A message to a local device, or (-1) to the first that comes.
  void Deliver(int64_t channel, int64_t target, Message message);

  Rendezvous& waits() { return waits_; }

 private:
  const int64_t devices_;
  Rendezvous waits_;
  Mailboxes<Message> mailboxes_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
