// Where devices, a thread each, wait for one another, and learn that nobody will come any more. All
// of it stands here, so that the runtime needs no other library.
//
// What is shared lies under one lock; each device sleeps on a condition of its own, so that whoever
// completes a meeting wakes its members and nobody else (eight devices in four groups on two cores:
// 110 us a collective where all were woken, since each looks and goes to sleep again).
#pragma once

#include <algorithm>
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
    WakeAll();
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
    WakeAll();
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
    WakeAll();
  }

  // What follows is for what devices wait at: Meetings and Mailboxes.
  using Lock = std::unique_lock<std::mutex>;
  Lock TakeLock() { return Lock(mutex_); }
  // Whether no device may wait any longer.
  End Ended(const Waiter& waiter) {
    return SetEnd(waiter, deadlocked_ ? End::kDeadlock : stopped_ ? End::kStopped : End::kNone);
  }
  End SetEnd(const Waiter& waiter, End end) {
    State& state = StateOf(waiter.device);
    state.end = end;
    state.id = waiter.id;
    return end;
  }
  // Blocks until another device calls Awaken for this one, counted as waiting until Release, or
  // until neither ever will be. Gives the lock back.
  End Wait(Lock& lock, const Waiter& waiter) {
    State& state = StateOf(waiter.device);
    ++waiting_;
    state.waits_at = waiter.at;
    CheckDeadlock();
    // Once released it is awakened soon, whatever ends meanwhile.
    while (state.waits_at == nullptr || !(stopped_ || deadlocked_)) {
      lock.unlock();
      if (Sleep(state, waiter.cancelled != nullptr) == kAwakened) return End::kNone;
      lock.lock();
      if (waiter.cancelled == nullptr || state.waits_at == nullptr ||
          waiter.cancelled(waiter.context) == 0)
        continue;
      stopped_ = true;  // and so end all that wait for this one
      WakeAll();
    }
    state.waits_at = nullptr;
    const End end = Ended(waiter);
    lock.unlock();
    return end;
  }
  // A device in Wait waits for nobody any more: it must be awakened, and does not end before.
  void Release(int64_t device) {
    --waiting_;
    ++steps_;
    StateOf(device).waits_at = nullptr;
  }
  // Without or with the lock.
  void Awaken(int64_t device) { Wake(StateOf(device), kAwakened); }
  // Calls `poll`, without the lock, until it is true or never will be: for what other processes
  // do. It is `poll` that sleeps where the wait is long. `waiters`: how many devices this one waits
  // for, itself among them.
  template <typename Poll>
  End WaitOutside(const Waiter& waiter, size_t waiters, const Poll& poll) {
    State& state = StateOf(waiter.device);
    {
      Lock lock(mutex_);
      waiting_ += static_cast<int64_t>(waiters);
      state.waits_at = waiter.at;
    }
    End end = End::kNone;
    for (int64_t round = 1; !poll() && end == End::kNone; ++round) {
      if (round % kRoundsToLook != 0) continue;
      Lock lock(mutex_);
      if (waiter.cancelled != nullptr && waiter.cancelled(waiter.context) != 0) {
        stopped_ = true;
        WakeAll();
      }
      end = Ended(waiter);
    }
    Lock lock(mutex_);
    state.waits_at = nullptr;
    waiting_ -= static_cast<int64_t>(waiters);
    ++steps_;
    return end;
  }

 private:
  // How long a device waits before it looks whether its run was cancelled.
  static constexpr std::chrono::milliseconds kCancelInterval{10};
  static constexpr int64_t kRoundsToLook = 64;  // calls of `poll` before it looks for an end

  enum Signal : uint8_t { kNothing, kLook, kAwakened };

  struct State {
    const char* waits_at = nullptr;  // null: it computes, or is released
    bool left = false, elsewhere = false;
    End end = End::kNone;
    int64_t id = 0;
    // Where it sleeps: a lock of its own, so that those who are woken at once do not queue.
    std::mutex mutex;
    std::condition_variable woken;
    Signal signal = kNothing;
  };
  State& StateOf(int64_t device) { return states_[static_cast<size_t>(device)]; }

  // Until a signal comes, or, `timed`, it is time to look whether the run was cancelled.
  static Signal Sleep(State& state, bool timed) {
    Lock lock(state.mutex);
    const auto is_woken = [&] { return state.signal != kNothing; };
    if (timed)
      state.woken.wait_for(lock, kCancelInterval, is_woken);
    else
      state.woken.wait(lock, is_woken);
    return std::exchange(state.signal, kNothing);
  }
  static void Wake(State& state, Signal signal) {
    {
      const Lock lock(state.mutex);
      state.signal = std::max(state.signal, signal);
    }
    state.woken.notify_one();
  }
  // All look whether there is anything left to wait for.
  void WakeAll() {
    for (State& state : states_)
      if (state.waits_at != nullptr) Wake(state, kLook);
  }

  void CheckDeadlock() {
    if (!all_here_ || stopped_ || deadlocked_ || waiting_ < running_ || waiting_ == 0) return;
    deadlocked_ = true;
    deadlock_ = WaitingText();
    WakeAll();
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
    size_t last = 0;       // the place of the one who came last, who need not be woken
    bool is_over = false;  // the last one has done what there was to do for all

    std::vector<int64_t> devices;  // by place
    size_t arrived = 0, parted = 0;
    std::mutex mutex;  // of `parted`
    std::condition_variable all_parted;
  };

  // Waits for the group's `size` members; `place`: which of them this device is. Sets `meeting`
  // where all came. The last one to come calls `alone(meeting)` while the others sleep on: true
  // where it did all that is to do; else each must call Part once it has done its share.
  template <typename Alone>
  Rendezvous::End Meet(const Rendezvous::Waiter& waiter, const Key& key, size_t size, size_t place,
                       Contribution& own, std::shared_ptr<Meeting>& meeting, const Alone& alone) {
    Rendezvous::Lock lock = devices_.TakeLock();
    // Whoever waited for this device may be gone, with its contribution.
    if (const auto end = devices_.Ended(waiter); end != Rendezvous::End::kNone) return end;
    std::shared_ptr<Meeting>& slot = meetings_[key];
    if (slot == nullptr) slot = std::make_shared<Meeting>();
    const std::shared_ptr<Meeting> common = slot;
    common->contributions.resize(size);
    common->contributions[place] = &own;
    common->devices.resize(size);
    common->devices[place] = waiter.device;
    if (++common->arrived == size) {
      meetings_.erase(key);
      common->last = place;
      for (size_t member = 0; member < size; ++member)
        if (member != place) devices_.Release(common->devices[member]);
      lock.unlock();
      const Awakening at_the_end{devices_, *common};  // also where `alone` throws
      common->is_over = true;
      common->is_over = alone(*common);
    } else if (const auto end = devices_.Wait(lock, waiter); end != Rendezvous::End::kNone) {
      return end;
    }
    meeting = common;
    return Rendezvous::End::kNone;
  }

  // Waits for the others who have met to be as far; none can fail in between.
  void Part(Meeting& meeting) {
    std::unique_lock<std::mutex> lock(meeting.mutex);
    if (++meeting.parted == meeting.contributions.size())
      meeting.all_parted.notify_all();
    else
      meeting.all_parted.wait(lock, [&] { return meeting.parted == meeting.contributions.size(); });
  }

 private:
  // Wakes all members but the last one.
  struct Awakening {
    Rendezvous& devices;
    const Meeting& meeting;
    ~Awakening() {
      for (size_t member = 0; member < meeting.devices.size(); ++member)
        if (member != meeting.last) devices.Awaken(meeting.devices[member]);
    }
  };

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
    if (box.receiver < 0) return;
    const int64_t receiver = std::exchange(box.receiver, -1);
    devices_.Release(receiver);
    devices_.Awaken(receiver);
  }

  // Waits for a message to `target`: this device, or -1.
  Rendezvous::End Receive(const Rendezvous::Waiter& waiter, int64_t channel, int64_t target,
                          Message& message) {
    Rendezvous::Lock lock = devices_.TakeLock();
    Mailbox& box = mailboxes_[{channel, target}];
    while (box.messages.empty()) {
      if (box.receiver >= 0) return devices_.SetEnd(waiter, Rendezvous::End::kTaken);
      if (const auto end = devices_.Ended(waiter); end != Rendezvous::End::kNone) return end;
      box.receiver = waiter.device;
      const Rendezvous::End end = devices_.Wait(lock, waiter);
      lock.lock();
      if (box.receiver == waiter.device) box.receiver = -1;
      if (end != Rendezvous::End::kNone) return end;
    }
    message = std::move(box.messages.front());
    box.messages.pop_front();
    return Rendezvous::End::kNone;
  }

 private:
  struct Mailbox {
    std::deque<Message> messages;
    int64_t receiver = -1;  // the device that waits for one
  };

  Rendezvous& devices_;
  std::map<std::pair<int64_t, int64_t>, Mailbox> mailboxes_;  // by channel and receiver
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
