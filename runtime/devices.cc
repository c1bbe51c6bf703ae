// Meetings, messages, and who waits for whom.
#include "runtime/devices.h"

#include <chrono>

namespace hlokit {
namespace {

// How long a device waits before it looks whether its run was cancelled.
constexpr std::chrono::milliseconds kCancelInterval(10);

}  // namespace

std::shared_ptr<Devices::Meeting> Devices::Meet(HlokitRunContext& ctx,
                                                const HlokitExchange& exchange,
                                                const int64_t* group, size_t place,
                                                const void* own) {
  std::unique_lock<std::mutex> lock(mutex_);
  // Whoever waited for this device may be gone, with what it brought.
  if (Ends(ctx, exchange)) return nullptr;
  std::shared_ptr<Meeting>& slot = meetings_[group];
  if (slot == nullptr) slot = std::make_shared<Meeting>();
  const std::shared_ptr<Meeting> meeting = slot;
  const auto size = static_cast<size_t>(group[0]);
  meeting->brought.resize(size);
  meeting->brought[place] = own;
  if (++meeting->arrived == size) {
    meetings_.erase(group);
    meeting->complete = true;
    Release(static_cast<int64_t>(size) - 1);
  } else if (!Wait(lock, meeting->complete, ctx, exchange)) {
    return nullptr;
  }
  return meeting;
}

void Devices::Part(Meeting& meeting) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (++meeting.parted == meeting.brought.size()) {
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return meeting.parted == meeting.brought.size(); });
  }
}

void Devices::Send(int64_t channel, int64_t target, Message message) {
  std::lock_guard<std::mutex> lock(mutex_);
  Mailbox& box = mailboxes_[{channel, target}];
  box.messages.push_back(std::move(message));
  if (box.awaited == nullptr) return;
  *std::exchange(box.awaited, nullptr) = true;
  Release(1);
}

bool Devices::Receive(HlokitRunContext& ctx, const HlokitExchange& exchange, int64_t target,
                      Message& message) {
  std::unique_lock<std::mutex> lock(mutex_);
  Mailbox& box = mailboxes_[{exchange.channel, target}];
  while (box.messages.empty()) {
    if (box.awaited != nullptr) {
      SetKernelError(&ctx, "two devices wait for one message at %s", exchange.name);
      return false;
    }
    if (Ends(ctx, exchange)) return false;
    bool came = false;
    box.awaited = &came;
    const bool done = Wait(lock, came, ctx, exchange);
    if (box.awaited == &came) box.awaited = nullptr;
    if (!done) return false;
  }
  message = std::move(box.messages.front());
  box.messages.pop_front();
  return true;
}

void Devices::Leave(int64_t device, bool failed) {
  std::lock_guard<std::mutex> lock(mutex_);
  states_[static_cast<size_t>(device)].left = true;
  --running_;
  if (failed) stopped_ = true;
  changed_.notify_all();
  if (!stopped_) CheckDeadlock();
}

// Whether no device may wait any longer; says so in the context.
bool Devices::Ends(HlokitRunContext& ctx, const HlokitExchange& exchange) {
  if (!stopped_ && !deadlocked_) return false;
  State& state = states_[static_cast<size_t>(ctx.device_ordinal)];
  state.id = exchange.id;
  state.end = stopped_ ? End::kStopped : End::kDeadlock;
  if (stopped_)
    SetKernelError(&ctx, "stopped with the other devices at %s", exchange.name);
  else
    SetKernelError(&ctx, "devices wait for one another for ever: %s", deadlock_.c_str());
  return true;
}

bool Devices::Wait(std::unique_lock<std::mutex>& lock, const bool& done, HlokitRunContext& ctx,
                   const HlokitExchange& exchange) {
  State& state = states_[static_cast<size_t>(ctx.device_ordinal)];
  ++waiting_;
  state.waits_at = exchange.name;
  CheckDeadlock();
  while (!done && !stopped_ && !deadlocked_) {
    changed_.wait_for(lock, kCancelInterval);
    if (done || hlokit_cancelled(&ctx) == 0) continue;
    stopped_ = true;  // and so end all that wait for this one
    changed_.notify_all();
  }
  if (!done) {
    Ends(ctx, exchange);
    return false;
  }
  state.waits_at = nullptr;
  return true;
}

void Devices::Release(int64_t waiters) {
  waiting_ -= waiters;
  changed_.notify_all();
}

void Devices::CheckDeadlock() {
  if (waiting_ < running_ || waiting_ == 0) return;
  deadlocked_ = true;
  deadlock_ = WaitingText();
  changed_.notify_all();
}

std::string Devices::WaitingText() const {
  constexpr int kMost = 16;
  std::string text;
  int named = 0;
  for (size_t device = 0; device < states_.size(); ++device) {
    const State& state = states_[device];
    if (state.waits_at == nullptr && !state.left) continue;
    if (++named > kMost) return text + ", ...";
    text += (named > 1 ? ", device " : "device ") + std::to_string(device) +
            (state.left ? " has ended" : std::string(" at ") + state.waits_at);
  }
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
