// Waiting, callbacks, and the state that both ends of an event share.
#include "support/event.h"

namespace hlokit {

Event Event::Done(absl::Status status) {
  Event event;
  if (status.ok()) return event;
  event.state_ = std::make_shared<State>();
  event.state_->ready = true;
  event.state_->status = std::move(status);
  return event;
}

bool Event::IsReady() const {
  if (state_ == nullptr) return true;
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->ready;
}

absl::Status Event::Await() const {
  if (state_ == nullptr) return absl::OkStatus();
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->ready; });
  return state_->status;
}

void Event::OnReady(std::function<void(const absl::Status&)> call) const {
  if (state_ == nullptr) return call(absl::OkStatus());
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->ready) return state_->calls.push_back(std::move(call));
  }
  call(state_->status);  // which does not change any more
}

EventSource::~EventSource() {
  if (event_.state_ != nullptr) Set(absl::CancelledError("what was waited for was given up"));
}

void EventSource::Set(const absl::Status& status) {
  const std::shared_ptr<Event::State> state = event_.state_;
  std::vector<std::function<void(const absl::Status&)>> calls;
  {
    const std::lock_guard<std::mutex> lock(state->mutex);
    if (state->ready) return;
    state->ready = true;
    state->status = status;
    calls.swap(state->calls);
  }
  state->changed.notify_all();
  for (const auto& call : calls) call(status);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
