// Lanes of background runs.
#include "pjrt/background.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "support/threads.h"

namespace hlokit {
namespace {

constexpr size_t kMaxLanes = 4;
// Tasks of a lane that wait: their arguments are held, results are not allocated yet.
constexpr size_t kMaxWaiting = 32;

// A thread that takes tasks in the order in which they came. Never destroyed: its thread ends with
// the process, which waits for what is queued (AwaitBackground).
class Lane {
 public:
  // False where there is no thread to run it; `task` is unchanged then.
  bool Put(std::function<void()>& task) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!started_) {
      std::optional<std::thread> thread = StartThread([this] { Work(); });
      if (!thread.has_value()) return false;
      thread->detach();
      started_ = true;
    }
    changed_.wait(lock, [this] { return tasks_.size() < kMaxWaiting; });
    tasks_.push_back(std::move(task));
    ++open_;
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
  }

  // Tasks that have not ended.
  size_t open() const { return open_.load(std::memory_order_relaxed); }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;  // frees what it holds, without the lock
      lock.lock();
      --open_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<size_t> open_ = 0;
  bool started_ = false;
};

std::atomic<bool> forked = false;

// The lanes. A process that forks or exits waits for its runs first.
std::array<Lane, kMaxLanes>& Lanes() {
  static std::array<Lane, kMaxLanes>* const lanes = [] {
    pthread_atfork(AwaitBackground, nullptr, [] { forked = true; });
    std::atexit(AwaitBackground);
    return new std::array<Lane, kMaxLanes>;
  }();
  return *lanes;
}

}  // namespace

// The first of them: runs one after the other share a thread, whose caches are warm.
int QuietestLane() {
  std::array<Lane, kMaxLanes>& lanes = Lanes();
  const size_t count =
      std::clamp<size_t>(std::thread::hardware_concurrency(), size_t{1}, kMaxLanes);
  const auto* const best =
      std::min_element(lanes.begin(), lanes.begin() + count,
                       [](const Lane& a, const Lane& b) { return a.open() < b.open(); });
  return static_cast<int>(best - lanes.begin());
}

void RunInBackground(std::function<void()> task, int lane) {
  if (!Lanes()[static_cast<size_t>(lane)].Put(task)) task();
}

bool MayRunInBackground() { return !forked.load(std::memory_order_relaxed); }

void AwaitBackground() {
  if (!MayRunInBackground()) return;
  for (Lane& lane : Lanes()) lane.Await();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
