// Calls that run at the same time, on threads that stay for the next time.
//
// Devices of one run are a thread each. Starting a thread costs 10 us or more (a stack is mapped,
// its pages are touched for the first time), which a step of a small program does not take; so
// threads that have done their call are parked, asleep, until the next RunTogether wants them.
//   first run of 8 devices    starts 7 threads, parks them
//   second                    wakes the 7: a system call each
// A run within a run, or one of another thread at the same time, takes others. A forked child has
// none of its parent's threads and starts its own.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
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
    job->left.store(static_cast<uint32_t>(workers.size()));
    int64_t index = 1;
    for (Worker* worker : workers) worker->Begin(job, index++);
    call(work, 0);
    for (uint32_t left = job->left.load(); left != 0; left = job->left.load()) job->left.wait(left);
    Return(workers);
    return true;
  }

 private:
  // Beyond so many that sleep, threads end instead.
  static constexpr size_t kMaxParked = 512;

  struct Job {
    Call call = nullptr;
    const void* work = nullptr;
    std::fenv_t floats;              // the caller's: subnormals, rounding
    std::atomic<uint32_t> left = 0;  // calls that have not ended, but the caller's own
  };

  class Worker {
   public:
    void Begin(std::shared_ptr<Job> job, int64_t index) {
      job_ = std::move(job);
      index_ = index;
      Wake();
    }
    void End() { Wake(); }  // without a job: the thread ends, and the object with it

    void Work() {
      for (;;) {
        awake_.wait(0);
        awake_.store(0);
        const std::shared_ptr<Job> job = std::move(job_);
        if (job == nullptr) break;
        std::fesetenv(&job->floats);
        job->call(job->work, index_);
        // This thread's hold on the job keeps the counter where it is while it is notified.
        if (job->left.fetch_sub(1) == 1) job->left.notify_one();
      }
      delete this;
    }

   private:
    void Wake() {
      awake_.store(1);
      awake_.notify_one();
    }

    std::shared_ptr<Job> job_;
    int64_t index_ = 0;
    std::atomic<uint32_t> awake_ = 0;
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
    for (Worker* worker : workers) {
      if (park.idle.size() < kMaxParked)
        park.idle.push_back(worker);
      else
        worker->End();
    }
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
