// The devices of one run: where they wait for one another.
#pragma once

#include <stdint.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/context.h"
#include "runtime/exchange.h"

namespace hlokit {

// Shared by the threads of all devices; the contexts' `devices` points at it.
class Devices {
 public:
  explicit Devices(int64_t count) : running_(count), states_(static_cast<size_t>(count)) {}

  // What each of a group brought; it lies where they left it until all have parted.
  struct Meeting {
    std::vector<const void*> brought;
    size_t arrived = 0, parted = 0;
    bool complete = false;
  };
  // Waits for all of `group` (its size, then its devices) to come to the exchange; `place`: which
  // of them this device is. Null, with an error in the context, where that cannot be any more.
  std::shared_ptr<Meeting> Meet(HlokitRunContext& ctx, const HlokitExchange& exchange,
                                const int64_t* group, size_t place, const void* own);
  // Waits for the others who have met to be as far; none can fail in between.
  void Part(Meeting& meeting);

  // The arrays of a message.
  using Message = std::vector<std::vector<char>>;
  // To one device, or to whoever comes first (-1).
  void Send(int64_t channel, int64_t target, Message message);
  // False, with an error in the context, where none can come any more.
  bool Receive(HlokitRunContext& ctx, const HlokitExchange& exchange, int64_t target,
               Message& message);

  // A device has ended. Where it failed, those that wait for others are stopped.
  void Leave(int64_t device, bool failed);

  // How a device's part ended.
  enum class End : uint8_t { kByItself, kStopped, kDeadlock };
  End end(int64_t device) const { return states_[static_cast<size_t>(device)].end; }
  // The exchange at which it did, where it was not by itself.
  int64_t ended_at(int64_t device) const { return states_[static_cast<size_t>(device)].id; }

 private:
  struct State {
    const char* waits_at = nullptr;  // the name of an exchange
    bool left = false;
    End end = End::kByItself;
    int64_t id = 0;
  };
  struct Mailbox {
    std::deque<Message> messages;
    bool* awaited = nullptr;  // the flag of the receiver that waits for one
  };

  bool Ends(HlokitRunContext& ctx, const HlokitExchange& exchange);
  // Blocks until `done`, counted as waiting; false, with an error in the context, where it will
  // never be. The one who makes it true calls Release.
  bool Wait(std::unique_lock<std::mutex>& lock, const bool& done, HlokitRunContext& ctx,
            const HlokitExchange& exchange);
  void Release(int64_t waiters);
  void CheckDeadlock();
  std::string WaitingText() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t running_, waiting_ = 0;
  bool stopped_ = false, deadlocked_ = false;
  std::string deadlock_;  // who waits where
  std::vector<State> states_;
  std::map<const int64_t*, std::shared_ptr<Meeting>> meetings_;  // by group
  std::map<std::pair<int64_t, int64_t>, Mailbox> mailboxes_;     // by channel and receiver
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
