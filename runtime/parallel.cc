// Parallel loops: fixed ranges, dealt out in blocks to the threads of one pool, then stolen. The
// caller works too and waits only for ranges that another thread has begun, so a busy machine costs
// no more than a loop on one thread.
#include "runtime/parallel.h"

#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/context.h"
#include "support/threads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hlokit {
namespace {

constexpr int kMaxThreads = 256;
constexpr int64_t kMaxRanges = 512;

int EnvironmentThreads(const char* name) {
  const char* text = getenv(name);
  return text == nullptr ? 0 : atoi(text);
}

int DefaultThreads() {
  static const int threads = [] {
    int n = EnvironmentThreads("HLOKIT_NUM_THREADS");
    if (n <= 0) n = EnvironmentThreads("OMP_NUM_THREADS");
    if (n <= 0) n = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(n, 1, kMaxThreads);
  }();
  return threads;
}

struct alignas(64) Share {
  std::atomic<int64_t> next;
  int64_t end;
};

// A loop is cut into ranges that depend on its size alone, never on the number of threads, so
// results do not depend on it either. Each thread starts with a block of neighbouring ranges (its
// share) and then takes ranges from the others' shares.
struct Loop {
  void* ctx;
  HlokitLoopBody fn;
  void* env;
  int64_t total;
  int64_t range;  // elements of one range
  int threads;
  uint32_t float_mode;        // the caller's, which all threads take
  Share shares[kMaxThreads];  // each thread's block of ranges

  void Drain(Share& share) {
    for (;;) {
      if (share.next.load(std::memory_order_relaxed) >= share.end) return;
      const int64_t i = share.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= share.end || hlokit_cancelled(ctx)) return;
      fn(env, i * range, std::min(total, (i + 1) * range));
    }
  }

  // Own share first, then the others' in turn: a counter per share makes taking a range one atomic
  // add.
  void Run(int me) {
    for (int t = 0; t < threads; ++t) Drain(shares[(me + t) % threads]);
  }
};

thread_local bool in_parallel_loop = false;

// How this thread rounds and treats subnormals, without the sticky exception flags.
uint32_t FloatMode() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~uint32_t{_MM_EXCEPT_MASK};
#else
  return 0;
#endif
}

void SetFloatMode(uint32_t mode) {
#if defined(__x86_64__)
  if (mode != FloatMode()) _mm_setcsr(mode);
#else
  (void)mode;
#endif
}

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Threads besides the caller's. They look for work for some 50 microseconds after the last loop,
// then sleep; where Rest tells that a run is over, after a few: the caller's other threads
// (Python's, which waits for the results) want their core.
class Pool {
 public:
  static Pool& Get() {
    static Pool* const pool = new Pool;  // never destroyed: its threads may outlive main
    return *pool;
  }

  void Rest() {
    const uint32_t now = epoch_.load(std::memory_order_relaxed);
    if (rests_.load(std::memory_order_relaxed) != now) rests_.store(now, std::memory_order_relaxed);
  }

  // False if another caller has the pool, or no thread can be had; nothing has run then.
  bool Run(Loop& loop) {
    std::unique_lock<std::mutex> hold(mutex_, std::try_to_lock);
    if (!hold.owns_lock()) return false;
    Grow(loop.threads - 1);
    if (size_ == 0) return false;
    seats_.store(std::min(size_, loop.threads - 1), std::memory_order_relaxed);
    loop_.store(&loop);
    epoch_.fetch_add(1);
    if (sleepers_.load() > 0) epoch_.notify_all();
    in_parallel_loop = true;
    loop.Run(0);
    in_parallel_loop = false;
    loop_.store(nullptr);
    while (inside_.load() > 0) Pause();
    return true;
  }

 private:
  static constexpr int kSpins = 3000, kSpinsAfterRun = 200;
  static constexpr int kPatience = 1000;  // loops

  // To so many threads, or as many as the system gives; refused, it waits before it asks again.
  void Grow(int size) {
    if (refused_ > 0 && --refused_ > 0) return;
    while (size_ < size) {
      std::optional<std::thread> thread = StartThread([this] { Work(); });
      if (!thread.has_value()) {
        refused_ = kPatience;
        return;
      }
      thread->detach();
      ++size_;
    }
  }

  void Work() {
    in_parallel_loop = true;
    uint32_t seen = 0;
    for (;;) {
      seen = Await(seen);
      inside_.fetch_add(1);
      if (Loop* loop = loop_.load()) {
        const int seat = seats_.fetch_sub(1);
        if (seat > 0) {
          SetFloatMode(loop->float_mode);
          loop->Run(loop->threads - seat);
        }
      }
      inside_.fetch_sub(1);
    }
  }

  // The epoch of the next loop.
  // Spinning first: the next kernel usually starts within microseconds, waking a thread takes tens.
  uint32_t Await(uint32_t seen) {
    for (int i = 0, after_run = 0; i < kSpins && after_run < kSpinsAfterRun; ++i) {
      if (const uint32_t now = epoch_.load(); now != seen) return now;
      if (rests_.load(std::memory_order_relaxed) == seen) ++after_run;
      Pause();
    }
    sleepers_.fetch_add(1);
    epoch_.wait(seen);
    sleepers_.fetch_sub(1);
    return epoch_.load();
  }

  std::mutex mutex_;  // one loop at a time
  int size_ = 0;
  int refused_ = 0;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<Loop*> loop_{nullptr};
  std::atomic<uint32_t> rests_{0};  // the epoch of a run's last loop
  std::atomic<int> seats_{0};
  std::atomic<int> inside_{0};  // threads that may be looking at the loop
  std::atomic<int> sleepers_{0};
};

}  // namespace

bool InParallelLoop() { return in_parallel_loop; }

ScopedAlone::ScopedAlone(bool alone) : before_(in_parallel_loop) { in_parallel_loop |= alone; }

ScopedAlone::~ScopedAlone() { in_parallel_loop = before_; }

void RestThreads() { Pool::Get().Rest(); }

}  // namespace hlokit

extern "C" {

int32_t hlokit_num_threads(const void* ctx) {
  const auto* run = static_cast<const HlokitRunContext*>(ctx);
  if (run == nullptr || run->num_threads <= 0) return hlokit::DefaultThreads();
  return std::min<int32_t>(run->num_threads, hlokit::kMaxThreads);
}

void hlokit_parallel_for(void* ctx, HlokitLoopBody fn, void* env, int64_t total, int64_t grain) {
  if (total <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  // At most kMaxRanges ranges, each a multiple of the grain.
  const int64_t grains = (total - 1) / grain + 1;
  const int64_t range = ((grains - 1) / hlokit::kMaxRanges + 1) * grain;
  const int64_t ranges = (total - 1) / range + 1;
  const int threads = hlokit_num_threads(ctx);
  const auto run_inline = [&] {
    for (int64_t i = 0; i < ranges && !hlokit_cancelled(ctx); ++i) {
      fn(env, i * range, std::min(total, (i + 1) * range));
    }
  };
  if (threads <= 1 || ranges <= 1 || hlokit::InParallelLoop()) {
    run_inline();
    return;
  }
  hlokit::Loop loop;
  loop.ctx = ctx;
  loop.fn = fn;
  loop.env = env;
  loop.total = total;
  loop.range = range;
  loop.threads = threads;
  loop.float_mode = hlokit::FloatMode();
  for (int t = 0; t < threads; ++t) {
    loop.shares[t].next.store(ranges * t / threads, std::memory_order_relaxed);
    loop.shares[t].end = ranges * (t + 1) / threads;
  }
  if (!hlokit::Pool::Get().Run(loop)) run_inline();
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
