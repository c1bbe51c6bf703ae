// Parallel loops over one pool of threads.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*HlokitLoopBody)(void* env, int64_t begin, int64_t end);

// Calls fn(env, begin, end) over disjoint ranges that cover [0, total); returns when all are done.
// Ranges are multiples of max(grain, 1) long and depend on total and grain alone, never on the
// number of threads, so neither do results. A total of at most `grain` and a nested call run
// inline, on the caller's thread. All threads take the caller's mode for subnormals. A cancelled or
// failed run skips the ranges that have not begun.
void hlokit_parallel_for(void* ctx, HlokitLoopBody fn, void* env, int64_t total, int64_t grain);

// The same for a generated kernel, void kernel(void* array, ..., int64_t begin, int64_t end), which
// takes each of the `count` arrays as an argument; count: 0 to kHlokitMostKernelArrays.
enum { kHlokitMostKernelArrays = 16 };
void hlokit_parallel_kernel(void* ctx, void* kernel, void* const* arrays, int64_t count,
                            int64_t total, int64_t grain);

// How many threads a loop of this run may use, at least 1.
int32_t hlokit_num_threads(const void* ctx);

#ifdef __cplusplus
}  // extern "C"

namespace hlokit {

// ParallelFor(ctx, total, grain, [&](int64_t begin, int64_t end) {...}); the body must not throw.
template <typename Body>
void ParallelFor(void* ctx, int64_t total, int64_t grain, const Body& body) {
  hlokit_parallel_for(
      ctx,
      [](void* env, int64_t begin, int64_t end) { (*static_cast<const Body*>(env))(begin, end); },
      const_cast<Body*>(&body), total, grain);
}

// True inside a parallel loop, where a further loop would run inline.
bool InParallelLoop();

// While it lives, and if `alone`, loops of the calling thread run inline: for runs so short that
// waking other threads costs more than they take off.
class ScopedAlone {
 public:
  explicit ScopedAlone(bool alone);
  ~ScopedAlone();
  ScopedAlone(const ScopedAlone&) = delete;
  ScopedAlone& operator=(const ScopedAlone&) = delete;

 private:
  const bool before_;
};

// A run is over: threads that look for the next loop sleep soon, unless it comes at once.
void RestThreads();

}  // namespace hlokit
#endif
// SPDX-License-Identifier: Apache-2.0
