// Where devices, a thread each, wait for one another, and learn that nobody will come any more. All
// of it stands here, so that the runtime needs no other library.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hlokit {

// The waits of all devices of one run; their threads share it.
class Rendezvous {
 public:
  // `all_here`: no other process has devices of this run, so that all waiting at once means a
  // deadlock. Else somebody who knows of all processes reads Now() and calls DeclareDeadlock.
  explicit Rendezvous(int64_t devices, bool all_here = true)
      : all_here_(all_here), running_(devices), states_(static_cast<size_t>(devices)) {}

  // A device and the place where it waits.
  struct Waiter {
    int64_t device = 0;
    const char* at = "";  // "all-reduce %x", for messages; lives as long as the wait
    int64_t id = 0;       // the caller's number of the place
    // Asked now and then with `context` whether the run was cancelled; null: it cannot be.
    int32_t (*cancelled)(const void*) = nullptr;
    const void* context = nullptr;
  };

  // Why a device waits no longer though nobody came: another one failed or was cancelled; all that
  // run wait; another one waits for the same message.
  enum class End : uint8_t { kNone, kStopped, kDeadlock, kTaken };

  // How a device's waits ended for good, and at which place; kNone where they did not.
  End end(int64_t device) const { return states_[static_cast<size_t>(device)].end; }
  int64_t ended_at(int64_t device) const { return states_[static_cast<size_t>(device)].id; }
  // The same as a message for users.
  std::string Text(End end, const Waiter& waiter) const {
    switch (end) {
      case End::kStopped:
        return std::string("stopped with the other devices at ") + waiter.at +
               (reason_.empty() ? "" : ": " + reason_);
      case End::kDeadlock:
        return "devices wait for one another for ever: " + deadlock_;
      case End::kTaken:
        return std::string("two devices wait for one message at ") + waiter.at;
      default:
        return "";
    }
  }

  // A device has ended. Where it failed, those that wait for others are stopped.
  void Leave(int64_t device, bool failed) {
    std::lock_guard<std::mutex> lock(mutex_);
    states_[static_cast<size_t>(device)].left = true;
    --running_;
    if (failed) stopped_ = true;
    changed_.notify_all();
    CheckDeadlock();
  }

  // A device of another process; before any device waits.
  void SetElsewhere(int64_t device) {
    std::lock_guard<std::mutex> lock(mutex_);
    states_[static_cast<size_t>(device)].elsewhere = true;
    --running_;
  }

  // Stops those that wait for others, and those that will.
  void Stop(const std::string& reason) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    reason_ = reason;
    changed_.notify_all();
  }

  // What the devices do at this moment.
  struct Moment {
    bool all_wait = false;  // those that have not ended
    int64_t steps = 0;      // of devices that did not wait any longer
    std::string text;       // "device 0 at all-reduce %x, device 1 has ended"
  };
  Moment Now() {
    std::lock_guard<std::mutex> lock(mutex_);
    return {waiting_ >= running_, steps_, WaitingText()};
  }
  void DeclareDeadlock(const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_ || deadlocked_) return;
    deadlocked_ = true;
    deadlock_ = text;
    changed_.notify_all();
  }

  // What follows is for what devices wait at: Meetings and Mailboxes.
  using Lock = std::unique_lock<std::mutex>;
  Lock TakeLock() { return Lock(mutex_); }
  // Whether no device may wait any longer.
  End Ended(const Waiter& waiter) {
    return SetEnd(waiter, deadlocked_ ? End::kDeadlock : stopped_ ? End::kStopped : End::kNone);
  }
  End SetEnd(const Waiter& waiter, End end) {
    State& state = states_[static_cast<size_t>(waiter.device)];
    state.end = end;
    state.id = waiter.id;
    return end;
  }
  // Blocks until `done`, counted as waiting, or until it never will be. The one who makes it true
  // calls Release.
  End Wait(Lock& lock, const bool& done, const Waiter& waiter) {
    State& state = states_[static_cast<size_t>(waiter.device)];
    ++waiting_;
    state.waits_at = waiter.at;
    CheckDeadlock();
    while (!done && !stopped_ && !deadlocked_) {
      if (waiter.cancelled == nullptr) {
        changed_.wait(lock);
        continue;
      }
      changed_.wait_for(lock, kCancelInterval);
      if (done || waiter.cancelled(waiter.context) == 0) continue;
      stopped_ = true;  // and so end all that wait for this one
      changed_.notify_all();
    }
    state.waits_at = nullptr;
    return done ? End::kNone : Ended(waiter);
  }
  // Calls `poll`, without the lock, until it is true or never will be: for what other processes
  // do. It is `poll` that sleeps where the wait is long. `waiters`: how many devices this one waits for, itself among them.
  template <typename Poll>
  End WaitOutside(const Waiter& waiter, size_t waiters, const Poll& poll) {
    State& state = states_[static_cast<size_t>(waiter.device)];
    {
      Lock lock(mutex_);
      waiting_ += static_cast<int64_t>(waiters);
      state.waits_at = waiter.at;
    }
    End end = End::kNone;
    for (int64_t round = 1; !poll() && end == End::kNone; ++round) {
      if (round % kRoundsToLook != 0) continue;
      Lock lock(mutex_);
      if (waiter.cancelled != nullptr && waiter.cancelled(waiter.context) != 0) stopped_ = true;
      end = Ended(waiter);
    }
    Lock lock(mutex_);
    state.waits_at = nullptr;
    Release(waiters);
    return end;
  }
  void Release(size_t waiters) {
    waiting_ -= static_cast<int64_t>(waiters);
    ++steps_;
    changed_.notify_all();
  }
  // Blocks until all `members` have counted themselves in `parted`, which none of them fails to do.
  void Part(size_t& parted, size_t members) {
    Lock lock(mutex_);
    if (++parted == members)
      changed_.notify_all();
    else
      changed_.wait(lock, [&] { return parted == members; });
  }

 private:
  // How long a device waits before it looks whether its run was cancelled.
  static constexpr std::chrono::milliseconds kCancelInterval{10};
  static constexpr int64_t kRoundsToLook = 64;  // calls of `poll` before it looks for an end

  struct State {
    const char* waits_at = nullptr;
    bool left = false, elsewhere = false;
    End end = End::kNone;
    int64_t id = 0;
  };

  void CheckDeadlock() {
    if (!all_here_ || stopped_ || deadlocked_ || waiting_ < running_ || waiting_ == 0) return;
    deadlocked_ = true;
    deadlock_ = WaitingText();
    changed_.notify_all();
  }

  std::string WaitingText() const {
    constexpr int kMax = 16;
    std::string text;
    int named = 0;
    for (size_t device = 0; device < states_.size(); ++device) {
      const State& state = states_[device];
      if (state.elsewhere || (state.waits_at == nullptr && !state.left)) continue;
      if (++named > kMax) return text + ", ...";
      text += (named > 1 ? ", device " : "device ") + std::to_string(device) +
              (state.left ? " has ended" : std::string(" at ") + state.waits_at);
    }
    return text;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const bool all_here_;
  int64_t running_, waiting_ = 0;
  int64_t steps_ = 0;
  bool stopped_ = false, deadlocked_ = false;
  std::string reason_;    // why Stop was called
  std::string deadlock_;  // who waited where, of the first deadlock
  std::vector<State> states_;
};

// Groups of devices that meet. `Key`: what a group meets at; `Contribution`: what each of them
// brings.
template <typename Key, typename Contribution>
class Meetings {
 public:
  explicit Meetings(Rendezvous& devices) : devices_(devices) {}

  // Contributions of a group's members, by place; it lies where they left it until all have parted.
  struct Meeting {
    std::vector<Contribution*> contributions;
    size_t last = 0;  // the place of the one who came last, who need not be woken
    size_t arrived = 0, parted = 0;
    bool complete = false;
  };

  // Waits for the group's `size` members; `place`: which of them this device is. Sets `meeting`
  // where all came: each must then call Part.
  Rendezvous::End Meet(const Rendezvous::Waiter& waiter, const Key& key, size_t size, size_t place,
                       Contribution& own, std::shared_ptr<Meeting>& meeting) {
    Rendezvous::Lock lock = devices_.TakeLock();
    // Whoever waited for this device may be gone, with its contribution.
    if (const auto end = devices_.Ended(waiter); end != Rendezvous::End::kNone) return end;
    std::shared_ptr<Meeting>& slot = meetings_[key];
    if (slot == nullptr) slot = std::make_shared<Meeting>();
    const std::shared_ptr<Meeting> common = slot;
    common->contributions.resize(size);
    common->contributions[place] = &own;
    if (++common->arrived == size) {
      meetings_.erase(key);
      common->last = place;
      common->complete = true;
      devices_.Release(size - 1);
    } else if (const auto end = devices_.Wait(lock, common->complete, waiter);
               end != Rendezvous::End::kNone) {
      return end;
    }
    meeting = common;
    return Rendezvous::End::kNone;
  }

  // Waits for the others who have met to be as far; none can fail in between.
  void Part(Meeting& meeting) { devices_.Part(meeting.parted, meeting.contributions.size()); }

 private:
  Rendezvous& devices_;
  std::map<Key, std::shared_ptr<Meeting>> meetings_;
};

// Messages from one device to another, in the order in which they were sent.
template <typename Message>
class Mailboxes {
 public:
  explicit Mailboxes(Rendezvous& devices) : devices_(devices) {}

  // To one device, or to whoever comes first (-1).
  void Send(int64_t channel, int64_t target, Message message) {
    const Rendezvous::Lock lock = devices_.TakeLock();
    Mailbox& box = mailboxes_[{channel, target}];
    box.messages.push_back(std::move(message));
    if (box.awaited == nullptr) return;
    *std::exchange(box.awaited, nullptr) = true;
    devices_.Release(1);
  }

  // Waits for a message to `target`: this device, or -1.
  Rendezvous::End Receive(const Rendezvous::Waiter& waiter, int64_t channel, int64_t target,
                          Message& message) {
    Rendezvous::Lock lock = devices_.TakeLock();
    Mailbox& box = mailboxes_[{channel, target}];
    while (box.messages.empty()) {
      if (box.awaited != nullptr) return devices_.SetEnd(waiter, Rendezvous::End::kTaken);
      if (const auto end = devices_.Ended(waiter); end != Rendezvous::End::kNone) return end;
      bool came = false;
      box.awaited = &came;
      const Rendezvous::End end = devices_.Wait(lock, came, waiter);
      if (box.awaited == &came) box.awaited = nullptr;
      if (end != Rendezvous::End::kNone) return end;
    }
    message = std::move(box.messages.front());
    box.messages.pop_front();
    return Rendezvous::End::kNone;
  }

 private:
  struct Mailbox {
    std::deque<Message> messages;
    bool* awaited = nullptr;  // the flag of the receiver that waits for one
  };

  Rendezvous& devices_;
  std::map<std::pair<int64_t, int64_t>, Mailbox> mailboxes_;  // by channel and receiver
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
