// Threads that the system may refuse: work goes on with fewer, or says that it cannot.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace hlokit {

// False once as many threads as HLOKIT_TEST_THREADS says were started: what tests use for a system
// that has no more.
inline bool MayStartThread() {
  static std::atomic<int64_t> left = [] {
    const char* text = std::getenv("HLOKIT_TEST_THREADS");
    return text == nullptr ? INT64_MAX : static_cast<int64_t>(std::atoll(text));
  }();
  return left.fetch_sub(1, std::memory_order_relaxed) > 0;
}

// A thread that runs `work`, which must not throw; none where the system starts no more of them
// (RLIMIT_NPROC, a cgroup's bound, memory).
template <typename Work>
std::optional<std::thread> StartThread(Work&& work) {
  if (!MayStartThread()) return std::nullopt;
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Threads that are waited for.
class ThreadTeam {
 public:
  ThreadTeam() = default;
  ~ThreadTeam() { Join(); }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // False, and nothing runs, where there is no thread to be had.
  template <typename Work>
  bool Start(Work&& work) {
    std::optional<std::thread> thread = StartThread(std::forward<Work>(work));
    if (thread.has_value()) threads_.push_back(*std::move(thread));
    return thread.has_value();
  }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

// Calls work(i) once for each 0 <= i < count, on this thread and at most `threads` - 1 others, as
// many as there are to be had; returns when all calls have.
template <typename Work>
void RunOnThreads(int64_t threads, int64_t count, const Work& work) {
  std::atomic<int64_t> next = 0;
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  ThreadTeam team;
  for (int64_t t = 1; t < threads && t < count; ++t)
    if (!team.Start(run)) break;
  run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
