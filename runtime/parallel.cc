// Parallel loops: fixed ranges, dealt out in blocks to the threads of libgomp's pool, then stolen.
#include "runtime/parallel.h"

#include <stdlib.h>

#include <algorithm>
#include <atomic>

#include "runtime/context.h"

// libgomp's entry points, declared here so that clang, too, gets libgomp's pool and not that of
// LLVM.
extern "C" {
void GOMP_parallel(void (*fn)(void*), void* data, unsigned num_threads, unsigned flags);
int omp_get_thread_num(void);
int omp_in_parallel(void);
int omp_get_num_procs(void);
}

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
    if (n <= 0) n = omp_get_num_procs();
    return std::clamp(n, 1, kMaxThreads);
  }();
  return threads;
}

struct alignas(64) Share {
  std::atomic<int64_t> next;
  int64_t end;
};

struct Loop {
  void* ctx;
  HlokitLoopBody fn;
  void* env;
  int64_t total;
  int64_t range;  // elements of one range
  int threads;
  Share shares[kMaxThreads];  // each thread's block of ranges

  void Drain(Share& share) {
    for (;;) {
      if (share.next.load(std::memory_order_relaxed) >= share.end) return;
      const int64_t i = share.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= share.end || hlokit_cancelled(ctx)) return;
      fn(env, i * range, std::min(total, (i + 1) * range));
    }
  }

  static void Run(void* self) {
    Loop& loop = *static_cast<Loop*>(self);
    const int me = omp_get_thread_num();
    for (int t = 0; t < loop.threads; ++t) loop.Drain(loop.shares[(me + t) % loop.threads]);
  }
};

}  // namespace

bool InParallelLoop() { return omp_in_parallel() != 0; }

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
  // Always the whole team: libgomp ends threads when a team shrinks.
  const int threads = hlokit_num_threads(ctx);
  if (threads <= 1 || ranges <= 1 || omp_in_parallel()) {
    for (int64_t i = 0; i < ranges && !hlokit_cancelled(ctx); ++i) {
      fn(env, i * range, std::min(total, (i + 1) * range));
    }
    return;
  }
  hlokit::Loop loop;
  loop.ctx = ctx;
  loop.fn = fn;
  loop.env = env;
  loop.total = total;
  loop.range = range;
  loop.threads = threads;
  for (int t = 0; t < threads; ++t) {
    loop.shares[t].next.store(ranges * t / threads, std::memory_order_relaxed);
    loop.shares[t].end = ranges * (t + 1) / threads;
  }
  GOMP_parallel(&hlokit::Loop::Run, &loop, threads, 0);
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
