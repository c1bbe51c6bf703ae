// Something that will have happened: a copy, an execution. Whoever holds an Event may wait for it
// or be called back; an EventSource makes it happen.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace hlokit {

// Copies are of the same event. Any thread may call any function.
class Event {
 public:
  // Happened already, without an error; costs no allocation.
  Event() = default;
  // Happened already, with `status`.
  static Event Done(absl::Status status);

  bool IsReady() const;
  // Blocks until the event has happened. Gives its error.
  absl::Status Await() const;
  // Calls `call` once with the event's status: at once where it has happened, else from the thread
  // that makes it happen.
  void OnReady(std::function<void(const absl::Status&)> call) const;

 private:
  friend class EventSource;
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    absl::Status status;
    std::vector<std::function<void(const absl::Status&)>> calls;
  };
  std::shared_ptr<State> state_;  // null: happened without an error
};

// The other end. Dropped before Set, its event ends with Cancelled, so that nobody waits for ever.
class EventSource {
 public:
  EventSource() { event_.state_ = std::make_shared<Event::State>(); }
  ~EventSource();
  EventSource(EventSource&&) = default;
  EventSource& operator=(EventSource&&) = delete;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  const Event& event() const { return event_; }
  // To be called once; later calls do nothing.
  void Set(const absl::Status& status);

 private:
  Event event_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
