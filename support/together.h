// Calls that run at the same time, on threads that stay for the next time.
//
// Devices of one run are a thread each. Starting a thread costs 10 us or more (a stack is mapped,
// its pages are touched for the first time), which a step of a small program does not take; so
// threads that have done their call are parked, asleep, until the next RunTogether wants them.
//   first run of 8 devices    starts 7 threads, parks them
//   second                    wakes the 7: a system call each
// A run within a run, or one of another thread at the same time, takes others: there are as many as
// ever ran at once. A forked child has none of its parent's threads and starts its own.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "support/threads.h"

namespace hlokit {

// The threads of this process that wait for calls.
class ParkedThreads {
 public:
  // What the callers' lambdas become: `call(work, i)`.
  using Call = void (*)(const void* work, int64_t i);

  // call(work, i) for each 0 <= i < count at the same time, call(work, 0) on this thread. False,
  // and no call is made, where there are not so many threads.
  static bool RunAll(int64_t count, Call call, const void* work) {
    std::vector<Worker*> workers;
    if (!Take(static_cast<size_t>(std::max<int64_t>(count, 1) - 1), workers)) return false;
    const auto job = std::make_shared<Job>();
    job->call = call;
    job->work = work;
    std::fegetenv(&job->floats);
    job->left = workers.size();
    int64_t index = 1;
    for (Worker* worker : workers) worker->Begin(job, index++);
    call(work, 0);
    job->Await();
    Return(workers);
    return true;
  }

 private:
  struct Job {
    Call call = nullptr;
    const void* work = nullptr;
    std::fenv_t floats;  // the caller's: subnormals, rounding
    size_t left = 0;     // calls that have not ended, but the caller's own
    std::mutex mutex;
    std::condition_variable ended;

    void Await() {
      std::unique_lock<std::mutex> lock(mutex);
      ended.wait(lock, [this] { return left == 0; });
    }
    void EndOne() {
      const std::lock_guard<std::mutex> lock(mutex);
      if (--left == 0) ended.notify_one();
    }
  };

  class Worker {
   public:
    void Begin(std::shared_ptr<Job> job, int64_t index) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        job_ = std::move(job);
        index_ = index;
        is_awake_ = true;
      }
      woken_.notify_one();
    }

    void Work() {
      for (;;) {
        const std::shared_ptr<Job> job = Next();
        std::fesetenv(&job->floats);
        job->call(job->work, index_);
        job->EndOne();
      }
    }

   private:
    std::shared_ptr<Job> Next() {
      std::unique_lock<std::mutex> lock(mutex_);
      woken_.wait(lock, [this] { return is_awake_; });
      is_awake_ = false;
      return std::move(job_);
    }

    // Not std::atomic's wait, which yields the core some times before it sleeps: on a busy machine
    // each of them is a time slice.
    std::mutex mutex_;
    std::condition_variable woken_;
    bool is_awake_ = false;
    std::shared_ptr<Job> job_;
    int64_t index_ = 0;
  };

  struct Park {
    std::mutex mutex;
    std::vector<Worker*> idle;
  };

  // Never destroyed: threads sleep while the process exits. A child of fork begins with an empty
  // one, since the mutex may have been held, and the threads are gone.
  static std::atomic<Park*>& Current() {
    static std::atomic<Park*> park = [] {
      pthread_atfork(nullptr, nullptr, [] { Current().store(new Park); });
      return new Park;
    }();
    return park;
  }

  static bool Take(size_t count, std::vector<Worker*>& workers) {
    workers.reserve(count);
    {
      Park& park = *Current().load();
      const std::lock_guard<std::mutex> lock(park.mutex);
      while (workers.size() < count && !park.idle.empty()) {
        workers.push_back(park.idle.back());
        park.idle.pop_back();
      }
    }
    while (workers.size() < count) {
      auto worker = std::make_unique<Worker>();
      std::optional<std::thread> thread = StartThread([w = worker.get()] { w->Work(); });
      if (!thread.has_value()) {
        Return(workers);
        return false;
      }
      thread->detach();
      workers.push_back(worker.release());
    }
    return true;
  }

  static void Return(const std::vector<Worker*>& workers) {
    Park& park = *Current().load();
    const std::lock_guard<std::mutex> lock(park.mutex);
    park.idle.insert(park.idle.end(), workers.begin(), workers.end());
  }
};

// Calls work(i) for each 0 <= i < count, all at the same time, since each may wait for the others:
// work(0) on this thread. False, and no call is made, where there are not so many threads.
template <typename Work>
bool RunTogether(int64_t count, const Work& work) {
  const auto call = [](const void* pointer, int64_t i) { (*static_cast<const Work*>(pointer))(i); };
  return ParkedThreads::RunAll(count, call, &work);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
