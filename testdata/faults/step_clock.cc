// A library for LD_PRELOAD whose clocks jump.
//   HLOKIT_CLOCK_STEPS=wall     the time of day jumps back and forth by an hour at every other call
//   HLOKIT_CLOCK_STEPS=all      so do the monotonic clocks, which POSIX forbids but machines that
//                               were suspended or moved have shown
//   HLOKIT_CLOCK_STEPS=back     each clock loses ten milliseconds at every seventh call
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int64_t kNanoseconds = 1'000'000'000;
constexpr int64_t kHour = 3600 * kNanoseconds;
constexpr int64_t kSlip = kNanoseconds / 100;

std::atomic<int64_t> calls{0};

// By how much the next reading is off, in nanoseconds. Clocks of the processor's time are right.
int64_t Offset(clockid_t clock) {
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) return 0;
  const bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  static const char* const steps = std::getenv("HLOKIT_CLOCK_STEPS");
  const int64_t call = calls.fetch_add(1);
  if (steps == nullptr) return 0;
  if (std::strcmp(steps, "back") == 0) return -(call / 7) * kSlip;
  if (!wall && std::strcmp(steps, "all") != 0) return 0;
  return (call / 2) % 2 == 0 ? 0 : (call / 4) % 2 == 0 ? kHour : -kHour;
}

void Shift(timespec* time, int64_t offset) {
  const int64_t sum = time->tv_sec * kNanoseconds + time->tv_nsec + offset;
  const int64_t shifted = sum < 0 ? 0 : sum;
  time->tv_sec = shifted / kNanoseconds;
  time->tv_nsec = shifted % kNanoseconds;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) {
  static auto* const next =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = next(clock, time);
  if (result == 0) Shift(time, Offset(clock));
  return result;
}

time_t time(time_t* out) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* out, void*) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
